import * as z from "zod";
import type { Cloud } from "./cloud.ts";

const tasksReply = z.object({ tasks: z.array(z.string()) });

/** Ids of the background tasks in a reply. */
export const taskIdsIn = async (reply: Response): Promise<readonly string[]> =>
  tasksReply.parse(await reply.json()).tasks;

/** Sends a request as another client of the provider. */
export const askProvider = async (
  { service }: Cloud,
  method: string,
  path: string,
  body: object,
): Promise<Response> => {
  const headers = {
    authorization: `apikey ${service.apiKey}`,
    "content-type": "application/json",
  };
  const url = `http://provider.test${path}`;
  const reply = await service.fetch(
    new Request(url, { method, headers, body: JSON.stringify(body) }),
  );
  if (!reply.ok) throw new Error(`${method} ${path} was refused`);
  return reply;
};
