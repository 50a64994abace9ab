import { tasks } from "../../lib/engine/task.ts";
import type { World } from "./world.ts";

/** Adds items of open tasks of the account `local`, which have been due for a minute. */
export const addOpenTasks = async (
  { ledger, clock }: Pick<World, "ledger" | "clock">,
  count: number,
): Promise<void> => {
  const now = clock.now();
  for (let index = 0; index < count; index += 1) {
    const id = `open-${index}`;
    await tasks.write(ledger, `local/${id}`, undefined, {
      ...{ account: "local", id, command: `own/of-${id}`, operation: "update-container" },
      ...{ recordedAt: now - 62_000, lookAt: now - 60_000, deadline: now + 7_200_000 },
      state: { status: "open" },
    });
  }
};
