import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base } from "vitest";
import { LOCAL_SENDER } from "../../lib/local/local-sender.ts";
import { type ConsoleRun, openRun } from "./console-run.ts";

const PLACE = { project_id: 1234567, region_id: 76 };
const CONTAINER = { ...PLACE, container_name: "my-container" };

const request = (commandId: string, operation: string, params: object, body?: object) => ({
  metadata: { commandId },
  data: { operation, params, ...(body && { body }) },
});

/** Two commands of one lane behind a third, and commands on other resources, none of which ends. */
const OPEN_COMMANDS = [
  request("first-in-lane", "update-container", CONTAINER, { description: "first" }),
  request("second-in-lane", "update-container", CONTAINER, { description: "second" }),
  request("third-in-lane", "update-container", CONTAINER, { description: "third" }),
  request("new-router", "create-router", PLACE, { name: "new-router", interfaces: [] }),
];

/** The page of one of the run's own commands. */
export const commandHash = (id: string): string => `#/commands/${LOCAL_SENDER}/${id}`;

/** Id of the command that holds its lane in the busy world, and of one behind it. */
export const HOLDER = "first-in-lane";
export const WAITING = "second-in-lane";

const prepareBusy = async (run: ConsoleRun): Promise<void> => {
  for (const command of OPEN_COMMANDS) await run.post("/commands", command);
};

/** A run that all tests of a file share; it starts at its first use. */
const world = (args: readonly string[], prepare: (run: ConsoleRun) => Promise<void>) =>
  [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's dependencies in this place
    async ({}, use: (run: ConsoleRun) => Promise<void>) => {
      const state = await mkdtemp(join(tmpdir(), "skyhook-browser-"));
      const run = await openRun(args, state);
      await prepare(run);
      await use(run);
      await run.stop();
      await rm(state, { recursive: true });
    },
    { scope: "file" },
  ] as const;

export interface Worlds {
  /** After the demo. */
  readonly demo: ConsoleRun;
  /** Nothing has happened. */
  readonly empty: ConsoleRun;
  /** Commands that hold lanes, wait and follow tasks for an hour. */
  readonly busy: ConsoleRun;
}

/** A test with worlds. */
export const test = base.extend<Worlds>({
  demo: [...world([], (run) => run.printed("steps of the demo ended as expected"))],
  empty: [...world(["--no-demo"], async () => undefined)],
  busy: [...world(["--no-demo", "--task-seconds", "3600"], prepareBusy)],
});
