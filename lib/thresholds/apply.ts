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
import type { ActualThreshold, Change } from "./plan.ts";
import { limitField, type Threshold, targetOf } from "./threshold.ts";

/** What became of a change; `action` is what was done, an update where somebody had been faster. */
export type AppliedChange =
  | { readonly change: Change; readonly outcome: "done"; readonly action: Change["action"] }
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
/** Sends until the outcome is clear; tells when it was not clear at first. */
type Send = (operation: Operation, body: Body<Operation>, onUnclear?: () => void) => Promise<void>;

const isCode = (error: unknown, code: ProviderErrorCode): boolean =>
  error instanceof ProviderError && error.code === code;

const isUnclear = (error: unknown): boolean =>
  error instanceof ProviderError && error.disposition === "ambiguous";
/** The provider said yes, in words that we do not know. */
const isDone = (error: unknown): boolean =>
  error instanceof ProviderError && error.disposition === "contract";

const sender =
  ({ client, clientId, clock, random, endsAt, signal }: ApplyOptions): Send =>
  async (operation, body, onUnclear) => {
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
        if (isUnclear(error)) onUnclear?.();
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
const create = async (send: Send, threshold: Threshold): Promise<Change["action"]> => {
  let isPerhapsOurs = false;
  try {
    await send(createStorageEvent, bodyOf(threshold), () => {
      isPerhapsOurs = true;
    });
    return "create";
  } catch (error) {
    if (!isCode(error, "conflict")) throw error;
    await send(updateStorageEvent, bodyOf(threshold));
    return isPerhapsOurs ? "create" : "update";
  }
};

const update = async (
  send: Send,
  threshold: Threshold,
  uuid: string | undefined,
): Promise<Change["action"]> => {
  try {
    await send(updateStorageEvent, bodyOf(threshold, uuid));
    return "update";
  } catch (error) {
    // Deleted since it was listed.
    if (!isCode(error, "not-found")) throw error;
    return create(send, threshold);
  }
};

const remove = async (send: Send, from: ActualThreshold): Promise<Change["action"]> => {
  const { uuid, limit } = from;
  const body = {
    ...targetOf(from),
    ...(limit !== undefined && limitField(from, limit)),
    ...(uuid !== undefined && { uuid }),
  };
  await send(deleteStorageEvent, body).catch((error: unknown) => {
    if (!isCode(error, "not-found")) throw error;
  });
  return "delete";
};

const make = (send: Send, change: Change): Promise<Change["action"]> => {
  switch (change.action) {
    case "create":
      return create(send, change.threshold);
    case "update":
      return update(send, change.threshold, change.from.uuid);
    case "delete":
      return remove(send, change.from);
    default:
      return change satisfies never;
  }
};

/** So many changes in a row without a clear answer are not the changes' fault. */
const MAX_UNCLEAR_IN_A_ROW = 3;

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
  let unclearInARow = 0;

  const failed = (change: Change, error: ProviderError): AppliedChange => {
    const problem = error.message;
    if (error.disposition === "permanent") return { change, outcome: "failed", problem };
    unclearInARow += 1;
    // Who is away for one change is away for all; one that is never answered stops no other.
    isStopped ||= !isUnclear(error) || unclearInARow >= MAX_UNCLEAR_IN_A_ROW;
    return { change, outcome: "left", problem };
  };

  const apply = async (change: Change): Promise<AppliedChange> => {
    isStopped ||= options.clock.now() >= options.endsAt || options.signal.aborted;
    // Whoever cannot tell must not go on; what was done is recorded all the same.
    isStopped ||= !(await options.mayGoOn().catch(() => false));
    if (isStopped) return { change, outcome: "left" };
    try {
      const action = await make(send, change);
      unclearInARow = 0;
      return { change, outcome: "done", action };
    } catch (error) {
      if (error instanceof ProviderError) return failed(change, error);
      throw error;
    }
  };

  const limit = pLimit(MAX_AT_ONCE);
  // All of them end before anything is thrown: nothing may go on behind the caller's back.
  const ends = await Promise.allSettled(changes.map((change) => limit(() => apply(change))));
  return ends.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
};
