import { type Command, commands } from "../../../lib/engine/command.ts";
import type { LedgerItem } from "../../../lib/platform/ports/ledger.ts";
import type { Cloud as Simulated } from "../simulation/cloud/cloud.ts";
import type { Decide } from "../simulation/engine/faults.ts";
import { anonymous, blankOf } from "./normal-form.ts";

/** Decides about a fault as in the simulator. @param state text of the system's state at the call */
export type DecideInState = (
  ...call: [...Parameters<Decide>, state: () => string]
) => ReturnType<Decide>;

/** Three repetitions are as good as four. */
const MANY = 3;
const BEFORE_ALL_INSTANTS = Date.UTC(2000, 0);

const coarse = (field: string, value: unknown): unknown => {
  if (typeof value !== "number") return blankOf(field, value) ?? value;
  if (/count$/i.test(field)) return Math.min(value, MANY);
  return value > BEFORE_ALL_INSTANTS ? "an instant" : (blankOf(field, value) ?? value);
};

/**
 * What the next steps of a command depend on. Its operation is a part of it from the intent of the first send until its
 * end is published: after a fault in between, the request is sent again, or events of the ledger are published.
 */
const ofCommand = (command: Command): object => {
  const { attempts, attemptCount, lostReplies, after, guards, dryRun, outbox, state } = command;
  const events = outbox.map((entry) => (typeof entry === "string" ? entry : entry.detailType));
  const isPublished = "endedAt" in state && events.length === 0;
  return {
    ...(attemptCount > 0 && !isPublished ? { ...command, attempts: [] } : {}),
    state: isPublished ? { status: state.status, reason: state.reason } : state,
    last: attempts.at(-1)?.disposition,
    counts: [attemptCount, lostReplies].map((count) => Math.min(count, MANY)),
    isCancelled: command.cancelRequestedAt !== undefined,
    ...{ after, guards, dryRun, events },
  };
};

const textOf = (item: LedgerItem): string => {
  const { key, value, dueAt } = item;
  const kind = key.replace(/#.*/, "");
  const its = kind === commands.kind ? ofCommand(commands.fromItem(item)) : value;
  const name = { command: key.replace(/^.*\//, ""), lane: kind }[kind] ?? key;
  return anonymous(JSON.stringify([name, dueAt !== undefined, its], coarse));
};

/**
 * The ledger, the kinds of published events and the settings of the accounts, without instants, ids and resources. A
 * fault of one call that strikes in an equal state has an equal effect.
 */
export const stateOf = ({ ledger, bus, plan }: Pick<Simulated, "ledger" | "bus" | "plan">) => {
  const counts: Record<string, number> = {};
  for (const { detailType } of bus.published()) {
    counts[detailType] = Math.min((counts[detailType] ?? 0) + 1, MANY);
  }
  const items = [...ledger.items.values()].map(textOf).toSorted();
  return [...items, JSON.stringify([counts, plan.accounts.accounts])].join("\n");
};
