import { execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import * as z from "zod";
import { createSystemClock, createSystemRandom } from "../../../lib/platform/system.ts";
import { serve } from "../../../lib/service/serve.ts";
import { createService } from "../../../lib/service/service.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { builtInState, type State } from "../../../lib/service/state/state.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";

/*
 * `npm run bench:sdk-poll` follows tasks of the service by `tasks.poll` of the provider's official Python SDK, to
 * compare with `npm run bench:cost`: requests made only to follow, and the delay from a task's end to the return of its
 * poll. The service has no rate limit: the SDK raises an error for a task after three refusals in a row.
 * Takes five and a half minutes, because the SDK polls in real time. `--json` prints one object and nothing else.
 */

interface Scenario {
  readonly text: string;
  readonly tasks: number;
  readonly taskSeconds: number;
  readonly tasksPerClient: number;
  /** Time within which the polls begin, evenly. */
  readonly spreadSeconds: number;
}

/** Connections of one client of the SDK, by default. */
const CONNECTIONS = 100;

const together = (tasks: number, clients: number): Scenario => ({
  text: `${tasks} tasks of 120 s that begin at one instant, polled from then on by ${clients} client(s) in one process`,
  ...{ tasks, taskSeconds: 120, tasksPerClient: tasks / clients, spreadSeconds: 0 },
});

const SCENARIOS = {
  // 120 s are 40 intervals: polls that begin with their tasks see the end early. Here each poll has another phase.
  "task-alone": {
    text: "60 tasks of 60 s, each polled from another phase of the SDK's interval of 3 s",
    ...{ tasks: 60, taskSeconds: 60, tasksPerClient: 60, spreadSeconds: 3 },
  },
  "tasks-together-100": together(100, 1),
  "tasks-together-1000": together(1_000, 1_000 / CONNECTIONS),
} satisfies Readonly<Record<string, Scenario>>;

/**
 * Runs by `--scenario` only. The SDK's HTTP client compares each waiting request with each connection whenever a
 * request ends, so one client with 900 waiting requests uses its CPU for that.
 */
const ON_REQUEST = { "tasks-together-1000-one-client": together(1_000, 1) };

const CHOICES: Readonly<Record<string, Scenario>> = { ...SCENARIOS, ...ON_REQUEST };

/** Time beyond the tasks' duration after which the SDK's process is killed. */
const GRACE_SECONDS = 120;
const PLACE = "/cloud/v1/caas/1234567/76/containers";

/** One container for each task, because an update locks its container. */
const stateWith = (containers: number): State => {
  const state = builtInState();
  const [first] = state.containers;
  if (!first) throw new Error("the built-in state has no container");
  const names = Array.from({ length: containers }, (_, index) => `container-${index + 1}`);
  return { ...state, containers: names.map((name) => ({ ...first, name })) };
};

/** The clock of this machine, which stands still while tasks begin. */
const createHoldableClock = () => {
  const machine = createSystemClock();
  let heldAt: number | undefined;
  return {
    ...machine,
    now: () => heldAt ?? machine.now(),
    /** @returns the instant of the hold, epoch ms */
    async hold(work: () => Promise<void>): Promise<number> {
      const at = machine.now();
      heldAt = at;
      await work();
      heldAt = undefined;
      return at;
    },
  };
};

const openProvider = async ({ tasks, taskSeconds }: Scenario) => {
  const clock = createHoldableClock();
  let requests = 0;
  const service = await createService({
    clock,
    random: createSystemRandom(),
    store: createMemoryStore(),
    initialState: stateWith(tasks),
    taskDurationMs: taskSeconds * 1_000,
    onFault: (error) => {
      throw error;
    },
    onRequest: ({ method }) => {
      if (method === "GET") requests += 1;
    },
  });
  const { url, close } = await serve(service, 0);
  const begin = async (number: number): Promise<string> => {
    const response = await service.fetch(
      new Request(`${url}${PLACE}/container-${number}`, {
        method: "PATCH",
        headers: {
          authorization: `apikey ${BUILT_IN_API_KEYS.first}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ timeout: 60 }),
      }),
    );
    const [taskId] = z.object({ tasks: z.tuple([z.string()]) }).parse(await response.json()).tasks;
    return taskId;
  };
  return {
    ...{ url, close },
    /** Number of reads so far, repeated ones included. */
    requests: () => requests,
    /** Begins all tasks at one instant. */
    async beginTasks() {
      const taskIds: string[] = [];
      const begunAt = await clock.hold(async () => {
        for (let number = 1; number <= tasks; number += 1) taskIds.push(await begin(number));
      });
      return { taskIds, endsAt: begunAt + taskSeconds * 1_000 };
    },
  };
};

/** Installs the SDK if it is missing. @returns the path of the interpreter that finds it */
const findPython = (): string => {
  const args = ["infra/python-tools.mjs", "python", "-c", "import sys; print(sys.executable)"];
  return execFileSync(process.execPath, args, { encoding: "utf8" }).trim();
};

const readySchema = z.object({ sdk: z.string() });
const resultSchema = z.object({ returnedAt: z.array(z.number()), cpuSeconds: z.number() });

/** Starts the SDK's process, which begins when it gets tasks. */
const startSdk = async (python: string, url: string, scenario: Scenario) => {
  const { taskSeconds, tasksPerClient, spreadSeconds } = scenario;
  const child = spawn(python, ["test/bench/sdk-poll/poll.py"], {
    // Nothing else, so that the SDK has its default settings and no proxy.
    env: { GCORE_BASE_URL: url, GCORE_API_KEY: BUILT_IN_API_KEYS.first },
    stdio: ["pipe", "pipe", "inherit"],
    timeout: (taskSeconds + GRACE_SECONDS) * 1_000,
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => {
    const line = await lines.next();
    if (line.done) throw new Error("the SDK's process ended before its tasks");
    return JSON.parse(line.value);
  };
  const { sdk } = readySchema.parse(await next());
  return {
    sdk,
    async poll(taskIds: readonly string[]) {
      child.stdin.end(`${JSON.stringify({ taskIds, tasksPerClient, spreadSeconds })}\n`);
      return resultSchema.parse(await next());
    },
  };
};

const rounded = (value: number): number => Math.round(value * 100) / 100;

const measure = async (python: string, scenario: Scenario) => {
  const provider = await openProvider(scenario);
  const { sdk, poll } = await startSdk(python, provider.url, scenario);
  const before = process.cpuUsage();
  const { taskIds, endsAt } = await provider.beginTasks();
  const { returnedAt, cpuSeconds } = await poll(taskIds);
  const { user, system } = process.cpuUsage(before);
  await provider.close();
  const late = returnedAt.map((at) => Math.round(at - endsAt)).sort((a, b) => a - b);
  const quantile = (part: number): number => late[Math.ceil(part * late.length) - 1] ?? Number.NaN;
  const elapsedSeconds = scenario.taskSeconds + quantile(1) / 1_000;
  return {
    sdk,
    figures: {
      providerRequests: provider.requests(),
      requestsPerTask: rounded(provider.requests() / scenario.tasks),
      lateP50Ms: quantile(0.5),
      lateP90Ms: quantile(0.9),
      lateMaxMs: quantile(1),
      sdkCpuSeconds: rounded(cpuSeconds),
      // Near 1, the SDK's process is late because it is busy, not only because of its interval.
      sdkCpuPerSecond: rounded(cpuSeconds / elapsedSeconds),
      serviceCpuSeconds: rounded((user + system) / 1e6),
    },
  };
};

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    scenario: { type: "string", multiple: true, default: Object.keys(SCENARIOS) },
  },
});
const python = findPython();
const results: (Awaited<ReturnType<typeof measure>> & { readonly name: string })[] = [];
for (const name of values.scenario) {
  const scenario = CHOICES[name];
  if (!scenario)
    throw new Error(`no scenario ${name}; choose of ${Object.keys(CHOICES).join(", ")}`);
  results.push({ name, ...(await measure(python, scenario)) });
}
const sdk = results[0]?.sdk;
if (values.json) {
  const scenarios = Object.fromEntries(results.map(({ name, figures }) => [name, figures]));
  print(JSON.stringify({ sdk, scenarios }));
} else {
  print(`tasks.poll of the official Python SDK, gcore ${sdk}:`);
  const width = Math.max(...results.map(({ name }) => name.length)) + 2;
  print(["".padEnd(20), ...results.map(({ name }) => name.padStart(width))].join(""));
  for (const figure of Object.keys(results[0]?.figures ?? {})) {
    const row = results.map(({ figures }) => String(figures[figure as keyof typeof figures]));
    print([figure.padEnd(20), ...row.map((value) => value.padStart(width))].join(""));
  }
  for (const { name } of results) print(`${name}: ${CHOICES[name]?.text}`);
}
