import { createSystemClock, createSystemRandom } from "../../../lib/platform/system.ts";
import { createService } from "../../../lib/service/service.ts";
import { builtInState } from "../../../lib/service/state/state.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";
import { json } from "../../support/provider.ts";

const OWN_KEY = "key-of-the-service";
const TASK_MS = 50;
const TASK_ID = "3f1a5c1e-0000-4000-8000-00000000000";

/** Containers that the provider handles badly. */
export const LEAKY_CONTAINERS = ["refuses", "fails", "lists", "errs"] as const;

/** Everything that it knows, in every form that a provider may use. */
const gossip = (authorization: string, body: string): string =>
  [body, authorization, encodeURIComponent(authorization), JSON.stringify({ body })].join(" ");

/**
 * The embedded service behind a front that quotes keys and requests in every text: in refusals, in
 * the ends of tasks, in additional fields.
 * @param keys that it accepts
 */
export const createLeakyProvider = async (keys: readonly string[]) => {
  const service = await createService({
    clock: createSystemClock(),
    random: createSystemRandom(),
    store: createMemoryStore(),
    initialState: builtInState(),
    apiKey: OWN_KEY,
    taskDurationMs: TASK_MS,
    onFault: () => undefined,
  });
  const keysSeen = new Set<string>();
  const secretsOfTask = new Map<string, string>();

  const leak = (container: string, text: string): Response => {
    switch (container) {
      case "refuses":
        return json(400, { message: text, invalid_fields: { [text]: [text] } });
      case "errs":
        return new Response(text, { status: 422, statusText: "No" });
      default: {
        const id = `${TASK_ID}${secretsOfTask.size}`;
        secretsOfTask.set(id, text);
        return json(200, { tasks: [id], debug: text });
      }
    }
  };

  const fetch = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const authorization = request.headers.get("authorization") ?? "";
    const key = authorization.replace("apikey ", "");
    keysSeen.add(key);
    if (!keys.includes(key)) return json(401, { message: `no such key: ${authorization}` });
    const body = await request.text();
    const text = gossip(authorization, body);
    const container = LEAKY_CONTAINERS.find((name) => pathname.endsWith(`/containers/${name}`));
    if (container) return leak(container, text);
    const secret = secretsOfTask.get(pathname.split("/").at(-1) ?? "");
    if (secret !== undefined) {
      const id = pathname.split("/").at(-1);
      return json(200, { id, state: "ERROR", error: secret, project_id: 1234567 });
    }
    const headers = new Headers(request.headers);
    headers.set("authorization", `apikey ${OWN_KEY}`);
    const { method, url } = request;
    const sent = new Request(url, { method, headers, ...(body !== "" && { body }) });
    const reply = await service.fetch(sent);
    if (pathname.includes("lifecycle") && reply.ok) {
      return json(200, Object.assign({ debug: text }, await reply.json()));
    }
    return reply;
  };
  return { fetch, keysSeen };
};
