import { createHash } from "node:crypto";
import { MAX_SHARDS, type Shards } from "../platform/ports/ledger.ts";
import type { CommandDeps } from "./deps.ts";
import { tasks } from "./task.ts";

const TASK_PREFIX = `${tasks.kind}#`;

/**
 * Spreads due entries over shards by a hash of their keys. All tasks of an account have one shard, because one list
 * of the provider shows the tasks of an account: two pollers would both ask for it.
 * An entry in another shard is handled there, so functions may differ in `count` while a stage is updated.
 * @param count 1 to `MAX_SHARDS`
 */
export const createShards = (count: number): Shards => ({
  count,
  of(key) {
    if (count === 1) return 0;
    // An account name contains no slash.
    const [together = key] = key.startsWith(TASK_PREFIX) ? key.split("/", 1) : [];
    return createHash("sha256").update(together).digest().readUInt32BE() % count;
  },
});

/** In one minute of each hour, the tick of shard 0 looks after shards without ticks. */
const SWEEP_MINUTE = 30;

/**
 * Wakes the pollers of shards that a lower `count` has left without a schedule, if entries are in them. They usually
 * wake each other until their work is done; this is for a wake signal that was lost.
 */
export const wakeRetiredShards = async ({
  ledger,
  waker,
  clock,
  shards,
}: Pick<CommandDeps, "ledger" | "waker" | "clock" | "shards">): Promise<void> => {
  const now = clock.now();
  if (new Date(now).getUTCMinutes() !== SWEEP_MINUTE) return;
  for (let shard = shards.count; shard < MAX_SHARDS; shard += 1) {
    const [entry] = await ledger.listDue(now, 1, shard);
    if (entry) await waker.wakeAt(now, shard);
  }
};
