import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DEMO_COMMANDS } from "../../../lib/cli/demo/commands.ts";
import { DEMO_THRESHOLDS, DEMO_WATCHLIST } from "../../../lib/cli/demo/world.ts";
import { serve } from "../../../lib/service/serve.ts";
import { consoleOf, runSkyhook, startSkyhook } from "../../support/skyhook-process.ts";
import { CANARIES } from "./canaries.ts";
import { readConsole } from "./console-reader.ts";
import { createLeakyProvider, LEAKY_CONTAINERS } from "./leaky-provider.ts";

const TEAM = "111122223333";
const PLACE = { project_id: 1234567, region_id: 76 };
const { mainKey, parameterKey, refusedKey, fixedEnv, otherEnv, shortLived } = CANARIES;
const { pullSecret, misplaced } = CANARIES;
/**
 * Time limit for the first command with a refused key; a loaded machine gets twice that, then four
 * times.
 */
const KEY_REFUSED_FOR_MS = 5_000;
const SECRETS = {
  envs: { FIXED: fixedEnv, OTHER: otherEnv, SHORT: shortLived },
  pull_secret: pullSecret,
};

const accountsFile = (baseUrl: string): string => `accounts:
  - { name: main, base_url: "${baseUrl}", api_key: { environment: MAIN_KEY }, senders: [own, "${TEAM}"] }
  - { name: second, base_url: "${baseUrl}", api_key: { parameter: /second/key }, senders: [own] }
  - { name: refused, base_url: "${baseUrl}", api_key: { environment: REFUSED_KEY }, senders: [own] }
aws_accounts: [{ id: "${TEAM}" }]
`;

const REACTIONS = `reactions:
  - name: set-variables
    when: { source: [team], detail-type: [Rotated] }
    account: main
    then:
      operation: update-container
      params: { project_id: 1234567, region_id: 76, container_name: my-container }
      body: { envs: { FROM: $.detail.password }, pull_secret: $.detail.token }
`;

/** An SSM with one parameter. */
const serveParameters = async (value: string) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/x-amz-json-1.1" });
    response.end(JSON.stringify({ Parameter: { Name: "/second/key", Value: value } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
};

type Data = Readonly<Record<string, unknown>>;
const container = (name: string, body: Data, data: Data = {}) => ({
  operation: "update-container",
  account: "main",
  params: { ...PLACE, container_name: name },
  body,
  ...data,
});

/** The requests, by command id. They cover every end and every rejection reason. */
const REQUESTS: Readonly<Record<string, Data>> = {
  ...Object.fromEntries(
    DEMO_COMMANDS.map(({ id, operation, params, body }) => [
      id,
      { operation, account: "main", params, body },
    ]),
  ),
  secrets: container("my-container", SECRETS),
  ...Object.fromEntries(LEAKY_CONTAINERS.map((name) => [name, container(name, SECRETS)])),
  second: container("fails", SECRETS, { account: "second" }),
  "dry-run": container("my-container", SECRETS, { dryRun: true }),
  behind: container("my-container", SECRETS, { after: ["refuses"] }),
  guarded: container("my-container", SECRETS, {
    guards: [
      {
        network: { ...PLACE, network_id: "b39792c3-3160-4356-912e-ba396c95cdcf" },
        key: "cost-center",
        equals: "another",
      },
    ],
  }),
  "no-such-account": container("my-container", SECRETS, { account: "nobody" }),
  "wrong-types": container("my-container", { envs: misplaced, pull_secret: [misplaced] }),
  "wrong-value": container("my-container", { ...SECRETS, timeout: 999, image: [misplaced] }),
  "wrong-place": container("my-container", {}, { envs: { A: misplaced }, query: { b: misplaced } }),
  "wrong-params": container("my-container", {}, { params: { project_id: misplaced } }),
  "wrong-deadline": container("my-container", SECRETS, { deadline: misplaced }),
  "wrong-guards": container("my-container", SECRETS, {
    guards: [{ key: misplaced, network: misplaced }],
  }),
};

export interface CanaryRun {
  readonly directory: string;
  /** Published events, one JSON line each. */
  readonly events: string;
  /** All output of our programs. */
  readonly printed: string;
  /** The answers of the console to every read, once with an open command, and once after all ends. */
  readonly shown: readonly [whileOpen: string, afterEnd: string];
  /** The token of the console. */
  readonly token: string;
  /** The ends of the commands, by id. */
  readonly ends: Readonly<Record<string, string>>;
  readonly keysSeen: ReadonlySet<string>;
}

interface State {
  readonly kind: string;
  readonly status?: string;
  readonly endedAt?: string;
}

const endOf = async (
  { url, headers }: ReturnType<typeof consoleOf>,
  id: string,
  query: string,
): Promise<string> => {
  for (;;) {
    const response = await fetch(`${url}/commands/${encodeURIComponent(id)}?${query}`, { headers });
    // The tests of the gateway check the shape of this answer.
    const state = (await response.json()) as State;
    if (response.ok && (state.kind === "rejected" || state.endedAt)) {
      return state.status ?? state.kind;
    }
    await sleep(50);
  }
};

/** Resolves when the gateway knows the command. */
const known = async ({ url, headers }: ReturnType<typeof consoleOf>, path: string) => {
  while (!(await fetch(`${url}/commands/${path}`, { headers })).ok) await sleep(20);
};

/** Runs verbs that send, show and read secrets. */
const useCommandLine = async (
  ask: (...command: readonly string[]) => Promise<void>,
): Promise<void> => {
  const place = ["--project-id", "1234567", "--region-id", "76", "--container-name"];
  const secretFlags = ["--envs", JSON.stringify(SECRETS.envs), "--pull-secret", pullSecret];
  await ask(
    "send",
    "update-container",
    ...place,
    "my-container",
    ...secretFlags,
    "--account",
    "main",
    "--wait",
    "--json",
  );
  await ask(
    "send",
    "update-container",
    ...place,
    "refuses",
    ...secretFlags,
    "--account",
    "main",
    "--wait",
  );
  await ask(
    "send",
    "update-container",
    ...place,
    "my-container",
    "--envs",
    misplaced,
    "--account",
    "main",
  );
  await ask("status", "fails", "--json");
  await ask("status", "refuses");
  await ask("read", "get-container", ...place, "my-container", "--json");
  await ask("read", "get-container", ...place, "refuses");
  await ask("prices", "list", "--json");
};

/**
 * One run of the program with all its features, on a provider that reveals everything it knows.
 * @param folder for its files and its data directory, `data`
 * @param end signal that ends it at last
 */
export const runWithCanaries = async (
  folder: string,
  end: "SIGTERM" | "SIGKILL",
): Promise<CanaryRun> => {
  const provider = await createLeakyProvider([mainKey, parameterKey]);
  const refuse = () => new Response(null, { status: 400 });
  const served = await serve(
    { fetch: provider.fetch, refuseHost: refuse, refuseUnreadable: refuse },
    0,
  );
  const parameters = await serveParameters(parameterKey);
  await mkdir(folder, { recursive: true });
  const files = {
    accounts: accountsFile(served.url),
    reactions: REACTIONS,
    thresholds: DEMO_THRESHOLDS,
    watchlist: DEMO_WATCHLIST,
  };
  const flags = await Promise.all(
    Object.entries(files).map(async ([name, text]) => {
      await writeFile(join(folder, `${name}.yaml`), text);
      return [`--${name}`, join(folder, `${name}.yaml`)];
    }),
  );
  const directory = join(folder, "data");
  const environment = {
    MAIN_KEY: mainKey,
    REFUSED_KEY: refusedKey,
    AWS_ENDPOINT_URL_SSM: parameters.url,
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "none",
    AWS_SECRET_ACCESS_KEY: "none",
  };
  const args = ["start", "--json", "--no-demo", "--data", directory, "--ai-tasks", "all"];
  const program = startSkyhook([...args, ...flags.flat()], environment);
  await program.printed("What can be sent");
  const gateway = consoleOf(program);
  const { url, headers } = gateway;
  const post = async (path: string, body: unknown) => {
    return fetch(`${url}/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  };

  const printed: string[] = [];
  const ends: Record<string, string> = {};
  const ask = async (...command: readonly string[]): Promise<void> => {
    const { stdout, stderr } = await runSkyhook(command, {
      SKYHOOK_ENDPOINT: url,
      SKYHOOK_BASE_URL: served.url,
      SKYHOOK_API_KEY: mainKey,
    });
    printed.push(stdout, stderr);
  };

  const send = async (id: string, data: Data): Promise<Response> => {
    const answer = await post("commands", { metadata: { id: `event-${id}`, commandId: id }, data });
    printed.push(await answer.clone().text());
    return answer;
  };
  for (const [id, data] of Object.entries(REQUESTS)) {
    const answer = await send(id, data);
    // Requests that the gateway refuses go over the bus, which accepts any detail.
    if (answer.status === 400) {
      const detail = { metadata: { commandId: id }, data };
      const event = { id: `event-${id}`, source: "canaries", "detail-type": "CommandRequested" };
      await post("events", { ...event, detail });
    }
  }
  const detail = { password: otherEnv, token: pullSecret };
  const event = { source: "team", "detail-type": "Rotated", detail, account: TEAM };
  await post("events", { ...event, id: "rotation" });
  await post("events", { ...event, id: "half-rotation", detail: { password: { misplaced } } });
  for (const id of Object.keys(REQUESTS)) ends[id] = await endOf(gateway, id, `event=event-${id}`);
  for (const data of Object.values(REQUESTS)) {
    printed.push(await (await post("commands/check", { data })).text());
  }
  const paths = Object.keys(REQUESTS).flatMap((id) => [id, `${id}?event=event-${id}`]);
  let whileOpen = "";
  // On a busy machine the command may end before the console has shown it.
  const isSeen = () =>
    program.stdout().includes("AccountKeyRefused") && whileOpen.includes('"request":{');
  for (let ms = KEY_REFUSED_FOR_MS; !isSeen(); ms *= 2) {
    const id = `key-refused-${ms}`;
    const deadline = new Date(Date.now() + ms).toISOString();
    await send(id, container("my-container", SECRETS, { account: "refused", deadline }));
    await known(gateway, `${id}?event=event-${id}`);
    whileOpen = await readConsole(gateway, [...paths, id]);
    ends["key-refused"] = await endOf(gateway, id, `event=event-${id}`);
  }
  ends.reaction = await endOf(gateway, "rotation:set-variables", `sender=${TEAM}`);

  // Programs of their own leave nothing in the data directory, and a killed run is examined for that only.
  if (end === "SIGTERM") await useCommandLine(ask);
  const afterEnd = await readConsole(gateway, [
    ...paths,
    `rotation:set-variables?sender=${TEAM}`,
    `half-rotation:set-variables?sender=${TEAM}&event=half-rotation`,
  ]);
  program.child.kill(end);
  await program.ended();
  printed.push(program.stdout(), program.stderr());
  await served.close();
  parameters.close();
  const { keysSeen } = provider;
  return {
    directory,
    events: program.stdout(),
    printed: printed.join("\n"),
    shown: [whileOpen, afterEnd],
    token: gateway.headers.authorization.replace("Bearer ", ""),
    ends,
    keysSeen,
  };
};
