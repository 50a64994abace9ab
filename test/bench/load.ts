import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import autocannon from "autocannon";
import * as z from "zod";
import { createOpenApi } from "../../lib/contract/openapi.ts";
import { BUILT_IN_API_KEYS } from "../../lib/service/state/keys.ts";

/*
 * Compares the service with other servers by the CPU time of their processes. Requests per second would measure the
 * load generator and the rest of the machine too.
 */

/** Another number as the argument also leaves the memory out, for a quick look. */
const [, , GIVEN_PAIRS] = process.argv;
const PAIRS = Number(GIVEN_PAIRS ?? 15);
const REQUESTS = 10_000;
/** Prism takes milliseconds for each request. */
const PRISM_REQUESTS = 500;
const CONNECTIONS = 10;
const MEMORY_REQUESTS = 1_000_000;
const WARM_UP_REQUESTS = 20_000;

const PRISM = "@stoplight/prism-cli";
const PRISM_VERSION = "5.16.0";

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
const usageMessage = z.object({
  cpu: z.object({ user: z.number(), system: z.number() }),
  memory: z.object({ rss: z.number(), heapUsed: z.number() }),
});

const start = async (kind: string, ...args: readonly string[]) => {
  const child = fork(SUBJECT, [kind, ...args], {
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [message] = await once(child, "message");
  return {
    url: urlMessage.parse(message).url,
    usage: async () => {
      child.send("usage");
      const [answer] = await once(child, "message");
      return usageMessage.parse(answer);
    },
    stop: () => child.kill(),
  };
};

type Process = Awaited<ReturnType<typeof start>>;

/** Sends requests. @throws Error at any status other than 2xx, which would distort the result */
const fire = async (url: string, { path, ...load }: Load, amount: number): Promise<void> => {
  const result = await autocannon({
    url: `${url}${path}`,
    connections: CONNECTIONS,
    headers: {
      authorization: `apikey ${BUILT_IN_API_KEYS.first}`,
      ...(load.body !== undefined && { "content-type": "application/json" }),
    },
    ...load,
    amount,
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${load.method} ${path}: ${result.non2xx} refused, ${result.errors} errors`);
  }
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const megabytes = (bytes: number): string => `${Math.round(bytes / 1_000_000)} MB`;

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" ? (address?.port ?? 0) : 0;
};

/** Installs Prism in a folder; undefined when the registry cannot be reached. */
const startPrism = async (folder: string): Promise<Process | undefined> => {
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder];
  const npm = spawn("npm", [...args, `${PRISM}@${PRISM_VERSION}`], { stdio: "ignore" });
  const [status] = await once(npm, "exit");
  if (status !== 0) return undefined;
  const document = join(folder, "openapi.json");
  await writeFile(document, JSON.stringify(createOpenApi()));
  const program = join(folder, "node_modules", PRISM, "dist", "index.js");
  return start("prism", program, document, String(await freePort()));
};

interface Measured {
  readonly name: string;
  readonly server: Process;
  readonly load: Load;
  readonly requests: number;
  /** CPU time of a request by round, µs. */
  readonly micros: number[];
}

const measured = (name: string, server: Process, load: Load, requests = REQUESTS): Measured => ({
  name,
  server,
  load,
  requests,
  micros: [],
});

const cpuMicrosOf = async (server: Process): Promise<number> => {
  const { user, system } = (await server.usage()).cpu;
  return user + system;
};

const measure = async ({ server, load, requests, micros }: Measured): Promise<void> => {
  const before = await cpuMicrosOf(server);
  await fire(server.url, load, requests);
  micros.push(((await cpuMicrosOf(server)) - before) / requests);
};

/** How often the subject answers while the floor answers once, by CPU time: the median of the pairs. */
const ratioTo = (floor: Measured, { micros }: Measured): string =>
  median(micros.map((own, round) => (floor.micros[round] ?? Number.NaN) / own)).toFixed(2);

const compareWith = async (prism: Process | undefined): Promise<void> => {
  const [bare, bareOverride] = [await start("bare"), await start("bare-override")];
  const [mock, service] = [await start("static-mock"), await start("service")];
  const floor = measured("bare Hono, Node's own Request and Response", bare, TAG);
  const sameSetting = measured("bare Hono, overrideGlobalObjects", bareOverride, TAG);
  const others = [
    measured("static mock of E14, overrideGlobalObjects", mock, TAG),
    measured("service, E14, read a tag", service, TAG),
    measured("service, E5, update a policy", service, POLICY),
    ...(prism ? [measured("Prism, E14", prism, TAG, PRISM_REQUESTS)] : []),
  ];
  const all = [floor, sameSetting, ...others];
  for (const { server, load, requests } of all) {
    await fire(server.url, load, Math.min(WARM_UP_REQUESTS, 4 * requests));
  }
  // Alternating, so that other load of the machine affects all of them equally.
  for (let round = 0; round < PAIRS; round += 1) {
    for (const each of all) await measure(each);
  }
  for (const { stop } of [bare, bareOverride, mock, service]) stop();

  print(`CPU time of the server for a request, median of ${PAIRS} rounds of ${REQUESTS} requests;`);
  print("ratio to each bare app, median of the pairs:");
  for (const each of all) {
    const micros = median(each.micros).toFixed(1).padStart(7);
    print(
      `  ${each.name.padEnd(44)}${micros} µs   ${ratioTo(floor, each)}   ${ratioTo(sameSetting, each)}`,
    );
  }
  if (!prism) print("  Prism: npm could not install it");
};

const compare = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-prism-"));
  let prism: Process | undefined;
  try {
    prism = await startPrism(folder);
    await compareWith(prism);
  } finally {
    prism?.stop();
    await rm(folder, { recursive: true });
  }
};

/** Prints the memory after many requests. A leak of a few bytes per request shows as megabytes. */
const watchMemory = async (load: Load, name: string): Promise<void> => {
  const service = await start("service");
  await fire(service.url, load, WARM_UP_REQUESTS);
  const { memory: before } = await service.usage();
  await fire(service.url, load, MEMORY_REQUESTS);
  const { memory: after } = await service.usage();
  service.stop();
  print(
    `  ${name.padEnd(28)}heap ${megabytes(before.heapUsed)} → ${megabytes(after.heapUsed)}, process ${megabytes(before.rss)} → ${megabytes(after.rss)}`,
  );
};

await compare();
if (GIVEN_PAIRS === undefined) {
  print(`memory after ${WARM_UP_REQUESTS} and after ${MEMORY_REQUESTS} more requests:`);
  await watchMemory(TAG, "E14, read a tag");
  await watchMemory(POLICY, "E5, update a policy");
}
