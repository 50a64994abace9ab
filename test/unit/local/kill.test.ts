import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { DEMO_COMMANDS } from "../../../lib/cli/demo/commands.ts";
import { DEMO_EVENT_ID, DEMO_REACTION } from "../../../lib/cli/demo/world.ts";
import {
  distinct,
  eventsIn,
  type PublishedEvent,
  startSkyhook,
} from "../../support/skyhook-process.ts";

/** Milliseconds after the first output at which a run is killed: ten moments in all. */
const KILLS = [
  [20, 400, 60, 900, 1_500],
  [150, 30, 2_000, 250, 700],
] as const;

const taskListSchema = z.object({ count: z.number() });
const thresholdsSchema = z.object({ reaching_used_requests: z.array(z.unknown()) });

/** Command id of the event that another AWS account puts on the bus. */
const PAID = `${DEMO_EVENT_ID}:${DEMO_REACTION}`;

const TERMINAL = new Set(["CommandSucceeded", "CommandFailed", "CommandCancelled"]);

const runUntilKilled = async (directory: string, afterMs: number) => {
  const program = startSkyhook(["start", "--json", "--data", directory]);
  await program.printed("listens at");
  await sleep(afterMs);
  program.child.kill("SIGKILL");
  await program.ended();
  return eventsIn(program.stdout(), true);
};

const runToTheEnd = async (directory: string) => {
  const program = startSkyhook(["start", "--json", "--data", directory]);
  await program.printed("steps of the demo ended as expected");
  await program.printed("SKYHOOK_API_KEY='");
  const [, url] = /provider: (\S+)/.exec(program.stderr()) ?? [];
  const [, key] = /SKYHOOK_API_KEY='(\S+)'/.exec(program.stderr()) ?? [];
  const ask = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
    const authorization = `apikey ${key}`;
    const response = await fetch(`${url}${path}`, { headers: { authorization } });
    return schema.parse(await response.json());
  };
  const routerTasks = await ask("/cloud/v1/tasks?task_type=create_router", taskListSchema);
  const thresholds = await ask("/storage/notifications/v1/events", thresholdsSchema);
  program.child.kill("SIGINT");
  await program.ended();
  const events = eventsIn(program.stdout());
  return { events, summary: program.stderr(), routerTasks, thresholds };
};

describe("a local run with --data that is killed", () => {
  it.concurrent.each(KILLS.map((moments) => [moments]))(
    "ends every command once and creates nothing twice, after kills at %j ms",
    { timeout: 600_000 },
    async (moments) => {
      const directory = await mkdtemp(join(tmpdir(), "skyhook-kill-"));
      const printed: PublishedEvent[] = [];
      for (const afterMs of moments) printed.push(...(await runUntilKilled(directory, afterMs)));

      const last = await runToTheEnd(directory);
      await rm(directory, { recursive: true });

      const all = distinct([...printed, ...last.events]);
      const ends = all.filter((event) => TERMINAL.has(event["detail-type"]));
      const accepted = DEMO_COMMANDS.filter(({ expected }) => !expected.startsWith("rejected"));
      expect(last.summary).toContain("17 of 17 steps of the demo ended as expected");
      expect(ends.map(({ detail }) => detail.metadata.commandId).sort()).toEqual(
        [...accepted.map(({ id }) => id), PAID].sort(),
      );
      // One router task is part of the initial state.
      expect(last.routerTasks.count).toBe(2);
      expect(last.thresholds.reaching_used_requests).toHaveLength(1);
    },
  );
});
