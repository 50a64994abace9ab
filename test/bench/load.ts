import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import autocannon from "autocannon";
import * as z from "zod";
import { BUILT_IN_API_KEYS } from "../../lib/service/state/keys.ts";

const ROUNDS = 5;
const SECONDS = 4;
const CONNECTIONS = 10;
const MEMORY_REQUESTS = 1_000_000;
const WARM_UP_REQUESTS = 20_000;

const SUBJECT = fileURLToPath(new URL("./subjects.mjs", import.meta.url));

type Load = Pick<autocannon.Options, "method" | "body"> & { readonly path: string };

const TAG: Load = {
  method: "GET",
  path: "/cloud/v1/networks/1234567/76/b39792c3-3160-4356-912e-ba396c95cdcf/metadata_item?key=cost-center",
};
const POLICY: Load = {
  method: "PATCH",
  path: "/cloud/v1/lifecycle_policy/1234567/76/1",
  body: '{"name":"renamed by the benchmark","status":"paused"}',
};

const urlMessage = z.object({ url: z.string() });
const memoryMessage = z.object({
  memory: z.object({ rss: z.number(), heapUsed: z.number() }),
});

const start = async (kind: "bare" | "service") => {
  const child = fork(SUBJECT, [kind], { execArgv: ["--expose-gc"] });
  const [message] = await once(child, "message");
  return {
    url: urlMessage.parse(message).url,
    memory: async () => {
      child.send("memory");
      const [answer] = await once(child, "message");
      return memoryMessage.parse(answer).memory;
    },
    stop: () => child.kill(),
  };
};

/** Requests per second. @throws Error at any status other than 2xx, which would distort the result */
const fire = async (
  url: string,
  { path, ...load }: Load,
  amount: { duration: number } | { amount: number },
) => {
  const result = await autocannon({
    url: `${url}${path}`,
    connections: CONNECTIONS,
    headers: {
      authorization: `apikey ${BUILT_IN_API_KEYS.first}`,
      ...(load.body !== undefined && { "content-type": "application/json" }),
    },
    ...load,
    ...amount,
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${load.method} ${path}: ${result.non2xx} refused, ${result.errors} errors`);
  }
  return result["2xx"] / result.duration;
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const megabytes = (bytes: number): string => `${Math.round(bytes / 1_000_000)} MB`;

/** Measures in alternating rounds, so that other load of the machine affects all subjects equally. */
const compare = async (): Promise<void> => {
  const [bare, service] = [await start("bare"), await start("service")];
  const subjects = [
    { name: "bare Hono app, a constant", url: bare.url, load: TAG },
    { name: "E14, read a tag", url: service.url, load: TAG },
    { name: "E5, update a policy", url: service.url, load: POLICY },
  ].map((subject) => ({ ...subject, rates: [] as number[] }));
  for (const { url, load } of subjects) await fire(url, load, { amount: WARM_UP_REQUESTS });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { url, load, rates } of subjects) {
      rates.push(await fire(url, load, { duration: SECONDS }));
    }
  }
  bare.stop();
  service.stop();

  print(
    `requests per second, median of ${ROUNDS} rounds of ${SECONDS} s, ${CONNECTIONS} connections:`,
  );
  const floor = subjects[0]?.rates ?? [];
  for (const { name, rates } of subjects) {
    const ratio = median(rates.map((rate, round) => rate / (floor[round] ?? Number.NaN)));
    print(
      `  ${name.padEnd(28)}${String(Math.round(median(rates))).padStart(7)}   ${ratio.toFixed(2)}`,
    );
  }
};

/** Prints the memory after many requests. A leak of a few bytes per request shows as megabytes. */
const watchMemory = async (load: Load, name: string): Promise<void> => {
  const service = await start("service");
  await fire(service.url, load, { amount: WARM_UP_REQUESTS });
  const before = await service.memory();
  await fire(service.url, load, { amount: MEMORY_REQUESTS });
  const after = await service.memory();
  service.stop();
  print(
    `  ${name.padEnd(28)}heap ${megabytes(before.heapUsed)} → ${megabytes(after.heapUsed)}, process ${megabytes(before.rss)} → ${megabytes(after.rss)}`,
  );
};

await compare();
print(`memory after ${WARM_UP_REQUESTS} and after ${MEMORY_REQUESTS} more requests:`);
await watchMemory(TAG, "E14, read a tag");
await watchMemory(POLICY, "E5, update a policy");
