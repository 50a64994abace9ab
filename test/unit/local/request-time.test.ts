import { expect, test } from "vitest";
import { listTasks } from "../../../lib/contract/tasks.ts";
import { createSystemClock } from "../../../lib/platform/system.ts";
import { openQuietly } from "./open-quietly.ts";

test("a request of a local run may take ten seconds, as on AWS", async () => {
  const system = createSystemClock();
  const limits: number[] = [];
  const sleep: typeof system.sleep = (durationMs, signal) => {
    limits.push(durationMs);
    return system.sleep(durationMs, signal);
  };
  const automation = await openQuietly({ clock: { ...system, sleep } });

  const local = automation.deps.accountOf("local");
  await local?.client.call(listTasks, { params: {}, query: {}, body: undefined });
  await automation.stop();

  expect(limits).toContain(10_000);
});
