import * as z from "zod";
import { CONSOLE_READS } from "../../support/console-routes.ts";
import type { consoleOf } from "../../support/skyhook-process.ts";

type Console = ReturnType<typeof consoleOf>;

const eventsSchema = z.array(z.object({ id: z.string() }));
const pricesSchema = z.array(z.object({ name: z.string() }));
const kindsSchema = z.object({ kinds: z.array(z.object({ kind: z.string() })) });
/** Ids of tasks, in any answer. */
const TASK_ID = /[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g;

const textOf = async ({ url, headers }: Console, path: string): Promise<string> =>
  (await fetch(`${url}${path}`, { headers })).text();

/** The stream of events from the oldest kept event to the one with this id. */
const readStream = async ({ url, headers }: Console, id: string): Promise<string> => {
  // An unknown cursor starts at the oldest event.
  const answer = await fetch(`${url}/events/stream?after=none`, { headers });
  let text = "";
  for await (const chunk of answer.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes(id)) break;
  }
  return text;
};

/**
 * The answers of every route that reads, each with its path: of the command ids, the tasks, prices and kinds of
 * records that the answers name, and the stream of events.
 * @param commands paths of commands, such as `c1?sender=111122223333`
 */
export const readConsole = async (
  gateway: Console,
  commands: readonly string[],
): Promise<string> => {
  const answers = new Map<string, string>();
  const read = async (path: string): Promise<string> => {
    const text = await textOf(gateway, path);
    answers.set(path, text);
    return text;
  };
  const fixed = CONSOLE_READS.filter((path) => path !== "/events/stream");
  for (const path of [...fixed, ...commands.map((command) => `/commands/${command}`)]) {
    await read(path);
  }
  const tasks = new Set([...answers.values()].join().match(TASK_ID));
  for (const id of tasks) await read(`/tasks/main/${id}`);
  for (const { name } of pricesSchema.parse(JSON.parse(await read("/prices")))) {
    await read(`/prices/${encodeURIComponent(name)}`);
  }
  const { kinds = [] } = kindsSchema.safeParse(JSON.parse(await read("/provider"))).data ?? {};
  for (const { kind } of kinds) await read(`/provider/records/${kind}`);
  const newest = eventsSchema.parse(JSON.parse(await read("/events?recent=1000"))).at(-1);
  if (newest) answers.set("/events/stream", await readStream(gateway, newest.id));
  return [...answers].map(([path, text]) => `${path}\n${text}`).join("\n");
};
