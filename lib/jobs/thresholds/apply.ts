import pLimit from "p-limit";
import type { Body } from "../../contract/operation.ts";
import {
  createStorageEvent,
  deleteStorageEvent,
  updateStorageEvent,
} from "../../contract/storage-events.ts";
import type { JobBudget, JobDeps } from "../../platform/ports/job.ts";
import type { Client } from "../../provider/client.ts";
import { ProviderError, type ProviderErrorCode } from "../../provider/provider-error.ts";
import { backoffMs } from "../../provider/retrying-client.ts";
import {
  type ActualThreshold,
  type Change,
  limitField,
  type Threshold,
  targetOf,
} from "./threshold.ts";

interface SendOptions extends JobBudget, Pick<JobDeps, "clock" | "random"> {
  /** Retries transient failures. */
  readonly client: Client;
  readonly clientId: number | bigint | undefined;
}

/** Maximum sends of one request. Each change states a target, so a repeat after an unknown outcome is safe. */
const MAX_SENDS = 3;

type Operation = typeof createStorageEvent | typeof updateStorageEvent | typeof deleteStorageEvent;
/** Sends a request until its outcome is clear. Calls `onUnclear` after each send without a clear one. */
type Send = (operation: Operation, body: Body<Operation>, onUnclear?: () => void) => Promise<void>;

const isCode = (error: unknown, code: ProviderErrorCode): boolean =>
  error instanceof ProviderError && error.code === code;

/** Whether the outcome of the request is unknown. */
const isUnclear = (error: unknown): boolean =>
  error instanceof ProviderError && error.disposition === "ambiguous";
/** Whether the provider accepted the request: only its reply breaks our schema. */
const isDone = (error: unknown): boolean =>
  error instanceof ProviderError && error.disposition === "contract";

const sender =
  (
    { client, clientId, clock, random, endsAt, signal }: SendOptions,
    markUnclear: () => void,
  ): Send =>
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
        if (isUnclear(error)) {
          markUnclear();
          onUnclear?.();
        }
        await pauseAgain(error, sends);
      }
    }
  };

const bodyOf = (threshold: Threshold, uuid?: string): Body<Operation> => ({
  ...targetOf(threshold),
  ...limitField(threshold, threshold.limit),
  ...(uuid !== undefined && { uuid }),
});

/** Creates a threshold, or updates one that another client, or an earlier send of ours, has created. */
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
    // Another client deleted it after the list was read.
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

/**
 * Makes one change, even if its target has changed since the plan was made.
 * @param markUnclear called when the outcome of a request is unknown
 * @returns the action taken: an update instead of a create if another client was faster
 * @throws ProviderError
 */
const makeChange = (
  options: SendOptions,
  change: Change,
  markUnclear: () => void,
): Promise<Change["action"]> => {
  const send = sender(options, markUnclear);
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

type Outcome =
  /** `action` is the one taken: an update instead of a create if another client was faster. */
  | { readonly outcome: "done"; readonly action: Change["action"] }
  /** Refused by the provider. */
  | { readonly outcome: "failed"; readonly problem: string }
  /** Not attempted, or outcome unknown: the next sync makes it, or finds it made. */
  | { readonly outcome: "left"; readonly problem?: string };

/** A change with its outcome. */
export type AppliedChange = Outcome & {
  readonly change: Change;
  /** Whether a request got no clear answer, and so may take effect later. */
  readonly isOpen: boolean;
};

const MAX_AT_ONCE = 8;
/** Unanswered changes in a row that stop the sync: then the provider is the cause, not the changes. */
const MAX_UNCLEAR_IN_A_ROW = 3;

/**
 * Makes changes concurrently. A refused change stops no other. When the provider cannot be reached, the
 * changes that have not begun are left for the next sync. No change begins after `endsAt`.
 * @returns the outcomes, in the order of the changes
 */
export const applyChanges = async (
  changes: readonly Change[],
  options: SendOptions,
): Promise<readonly AppliedChange[]> => {
  let isStopped = false;
  let unclearInARow = 0;

  const failed = (error: ProviderError): Outcome => {
    const problem = error.message;
    if (error.disposition === "permanent") return { outcome: "failed", problem };
    unclearInARow += 1;
    // An unreachable provider or a lost lease stops all changes; a single unanswered change does not.
    isStopped ||= !isUnclear(error) || unclearInARow >= MAX_UNCLEAR_IN_A_ROW;
    return { outcome: "left", problem };
  };

  const apply = async (change: Change): Promise<AppliedChange> => {
    isStopped ||= options.clock.now() >= options.endsAt || options.signal.aborted;
    let isOpen = false;
    const markUnclear = (): void => {
      isOpen = true;
    };
    if (isStopped) return { change, isOpen, outcome: "left" };
    try {
      const action = await makeChange(options, change, markUnclear);
      unclearInARow = 0;
      return { change, isOpen, outcome: "done", action };
    } catch (error) {
      if (error instanceof ProviderError) return { change, isOpen, ...failed(error) };
      throw error;
    }
  };

  const limit = pLimit(MAX_AT_ONCE);
  // Every change ends before an error is thrown: none may still run after the caller has returned.
  const ends = await Promise.allSettled(changes.map((change) => limit(() => apply(change))));
  return ends.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
};
