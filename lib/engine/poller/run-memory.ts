import type { Clock } from "../../platform/ports/clock.ts";
import type { DueEntry } from "../../platform/ports/ledger.ts";
import { commands } from "../command.ts";
import type { CommandDeps } from "../deps.ts";
import { errorFields, keyFields } from "../log-fields.ts";

/** An entry that could not be worked off stays due; this run leaves it alone for a while. */
const PAUSE_AFTER_ERROR_MS = 5_000;
/** The index may show an entry for a while after it was worked off; nothing is due again so soon. */
export const PAUSE_AFTER_WORK_MS = 1_000;
export const MAX_AT_ONCE = 8;

/**
 * What one run of the poller remembers: when to look again at what stays due. A look that finds
 * nothing new writes nothing, so the ledger cannot tell.
 */
export interface RunMemory {
  /** Not before this time (epoch ms), by key of the due entry. */
  readonly notBefore: Map<string, number>;
  /** Since when (epoch ms) the end of a task was known and not told, by key of the due entry. */
  readonly untoldSince: Map<string, number>;
}

export const createRunMemory = (): RunMemory => ({
  notBefore: new Map(),
  untoldSince: new Map(),
});

/** When this run should take the entry up, epoch ms. */
export const turnOf = (entry: DueEntry, memory: RunMemory): number =>
  Math.max(entry.dueAt, memory.notBefore.get(entry.key) ?? 0);

export const splitKey = (key: string): readonly [kind: string, rest: string] => {
  const at = key.indexOf("#");
  return [key.slice(0, at), key.slice(at + 1)];
};

/** Counts what could not be worked off, so that somebody is told when that lasts; and says why. */
export const leaveForNow = (
  deps: CommandDeps,
  memory: RunMemory,
  key: string,
  error: unknown,
): void => {
  memory.notBefore.set(key, deps.clock.now() + PAUSE_AFTER_ERROR_MS);
  const [kind, rest] = splitKey(key);
  const log = kind === commands.kind ? deps.log.with(keyFields(rest)) : deps.log;
  log.warn("due entry not worked off, it stays due", { key, ...errorFields(error) });
  deps.metrics.count("DueEntryLeft");
};

/** Waits for the work, but no longer than `durationMs`; the work goes on. */
export const within = async (
  clock: Clock,
  durationMs: number,
  work: Promise<unknown>,
): Promise<void> => {
  const endsAt = clock.now() + durationMs;
  const done = new AbortController();
  const asleep = clock.sleep(durationMs, done.signal);
  await Promise.race([work, asleep]);
  done.abort();
  await asleep;
  // A process that stops ends its sleeps. It closes the ledger next, so nothing may be under way.
  if (clock.now() < endsAt) await work;
};
