import type { EventBus } from "../platform/ports/bus.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger, Shards } from "../platform/ports/ledger.ts";
import type { Log, LogFields } from "../platform/ports/log.ts";
import type { Metrics } from "../platform/ports/metrics.ts";
import type { CommandQueue, Waker } from "../platform/ports/queue.ts";
import type { Random } from "../platform/ports/random.ts";
import type { Access } from "../provider/access.ts";
import type { Account } from "../provider/accounts.ts";
import { type Command, splitCommandKey } from "./command.ts";

export interface CommandDeps {
  readonly ledger: Ledger;
  readonly queue: CommandQueue;
  readonly bus: EventBus;
  readonly waker: Waker;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly access: Access;
  readonly accountOf: (name: string) => Account | undefined;
  /** Our own AWS account: the sender of everything that arrives on the direct queue. */
  readonly ownSender: string;
  /** Key of fingerprints and seals; the same for every function that shares the ledger. */
  readonly fingerprintKey: string;
  /** Id under which this process holds leases. */
  readonly runner: string;
  /** Longer than any invocation lives, so that an expired lease means that its holder is gone. */
  readonly leaseMs: number;
  readonly shards: Shards;
}

/** Log fields derived from a command key alone. */
export const keyFields = (commandKey: string): LogFields => {
  const { sender, id } = splitCommandKey(commandKey);
  return { commandId: id, sender };
};

/** Log fields of an unforeseen error, with the place in our own code. */
export const errorFields = (error: unknown): LogFields =>
  error instanceof Error
    ? { errorKind: error.name, errorMessage: error.message, stack: error.stack }
    : { errorKind: "unknown", errorMessage: String(error) };

/** The same deps with the command in each log line: many commands are in progress side by side. */
export const depsFor = <D extends { readonly log: Log }>(deps: D, command: Command): D => {
  const { correlationId, id, sender, account, lane, operation } = command;
  const fields = { correlationId, commandId: id, sender, account, lane, operation };
  return { ...deps, log: deps.log.with(fields) };
};
