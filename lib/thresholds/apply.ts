import pLimit from "p-limit";
import { backoffMs } from "../client/backoff.ts";
import type { Client } from "../client/client.ts";
import { ProviderError, type ProviderErrorCode } from "../client/provider-error.ts";
import type { Body } from "../contract/operation.ts";
import {
  createStorageEvent,
  deleteStorageEvent,
  updateStorageEvent,
} from "../contract/storage-events.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";
import type { Change } from "./plan.ts";
import { limitField, type Threshold, targetOf } from "./threshold.ts";

/** What became of a change. */
export type AppliedChange =
  | { readonly change: Change; readonly outcome: "done" }
  /** Clearly refused. */
  | { readonly change: Change; readonly outcome: "failed"; readonly problem: string }
  /** Not begun, or its replies were lost: the next run does it, or finds it done. */
  | { readonly change: Change; readonly outcome: "left"; readonly problem?: string };

export interface ApplyOptions {
  /** Keeps the account's request budget. */
  readonly client: Client;
  readonly clientId: number | bigint | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Epoch ms; no change is begun from then on. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
  /** Asked before each change. */
  readonly mayGoOn: () => Promise<boolean>;
}

const MAX_AT_ONCE = 8;
/** Each change states a target, so it may be sent again when its outcome is unknown. */
const MAX_SENDS = 3;

type Operation = typeof createStorageEvent | typeof updateStorageEvent | typeof deleteStorageEvent;
type Send = (operation: Operation, body: Body<Operation>) => Promise<void>;

const isCode = (error: unknown, code: ProviderErrorCode): boolean =>
  error instanceof ProviderError && error.code === code;

const isUnclear = (error: unknown): boolean =>
  error instanceof ProviderError && error.disposition === "ambiguous";
/** The provider said yes, in words that we do not know. */
const isDone = (error: unknown): boolean =>
  error instanceof ProviderError && error.disposition === "contract";

const sender =
  ({ client, clientId, clock, random, endsAt, signal }: ApplyOptions): Send =>
  async (operation, body) => {
    const query = clientId === undefined ? {} : { client_id: clientId };
    const pauseAgain = async (error: unknown, sends: number): Promise<void> => {
      const pause = backoffMs(sends, random);
      if (!isUnclear(error) || sends >= MAX_SENDS || clock.now() + pause >= endsAt) throw error;
      await clock.sleep(pause, signal);
    };
    for (let sends = 1; ; sends += 1) {
      try {
        await client.call(operation, { params: {}, query, body });
        return;
      } catch (error) {
        if (isDone(error)) return;
        await pauseAgain(error, sends);
      }
    }
  };

const bodyOf = (threshold: Threshold, uuid?: string): Body<Operation> => ({
  ...targetOf(threshold),
  ...limitField(threshold, threshold.limit),
  ...(uuid !== undefined && { uuid }),
});

/** "Exists" on a create is an update: somebody was faster, or an earlier send of ours was. */
const create = (send: Send, threshold: Threshold): Promise<void> =>
  send(createStorageEvent, bodyOf(threshold)).catch((error: unknown) => {
    if (!isCode(error, "conflict")) throw error;
    return send(updateStorageEvent, bodyOf(threshold));
  });

const make = (send: Send, change: Change): Promise<void> => {
  switch (change.action) {
    case "create":
      return create(send, change.threshold);
    case "update":
      return send(updateStorageEvent, bodyOf(change.threshold, change.from.uuid)).catch(
        (error: unknown) => {
          // Deleted since it was listed.
          if (!isCode(error, "not-found")) throw error;
          return create(send, change.threshold);
        },
      );
    case "delete": {
      const { uuid, limit } = change.from;
      const body = {
        ...targetOf(change.from),
        ...(limit !== undefined && limitField(change.from, limit)),
        ...(uuid !== undefined && { uuid }),
      };
      return send(deleteStorageEvent, body).catch((error: unknown) => {
        if (!isCode(error, "not-found")) throw error;
      });
    }
    default:
      return change satisfies never;
  }
};

/**
 * Makes the changes side by side. One that is refused stops no other; when the provider cannot be
 * reached, those that have not begun stay for the next run.
 */
export const applyChanges = async (
  changes: readonly Change[],
  options: ApplyOptions,
): Promise<readonly AppliedChange[]> => {
  const send = sender(options);
  let isStopped = false;
  const apply = async (change: Change): Promise<AppliedChange> => {
    isStopped ||= options.clock.now() >= options.endsAt || options.signal.aborted;
    isStopped ||= !(await options.mayGoOn());
    if (isStopped) return { change, outcome: "left" };
    try {
      await make(send, change);
      return { change, outcome: "done" };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      const problem = error.message;
      if (error.disposition === "permanent") return { change, outcome: "failed", problem };
      // What keeps one change from being made keeps the others, too.
      isStopped = true;
      return { change, outcome: "left", problem };
    }
  };
  const limit = pLimit(MAX_AT_ONCE);
  return Promise.all(changes.map((change) => limit(() => apply(change))));
};
