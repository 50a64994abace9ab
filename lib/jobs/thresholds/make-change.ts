import type { Body } from "../../contract/operation.ts";
import {
  createStorageEvent,
  deleteStorageEvent,
  updateStorageEvent,
} from "../../contract/storage-events.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import type { Random } from "../../platform/ports/random.ts";
import type { Client } from "../../provider/client.ts";
import { ProviderError, type ProviderErrorCode } from "../../provider/provider-error.ts";
import { backoffMs } from "../../provider/retrying-client.ts";
import type { ActualThreshold, Change } from "./plan.ts";
import { limitField, type Threshold, targetOf } from "./threshold.ts";

export interface SendOptions {
  /** Repeats what may pass later. */
  readonly client: Client;
  readonly clientId: number | bigint | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Epoch ms; nothing is sent again from then on. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
}

/** Each change states a target, so it may be sent again when its outcome is unknown. */
const MAX_SENDS = 3;

type Operation = typeof createStorageEvent | typeof updateStorageEvent | typeof deleteStorageEvent;
/** Sends until the outcome is clear; tells when it was not clear at first. */
type Send = (operation: Operation, body: Body<Operation>, onUnclear?: () => void) => Promise<void>;

const isCode = (error: unknown, code: ProviderErrorCode): boolean =>
  error instanceof ProviderError && error.code === code;

/** Whether it may have taken effect or not. */
export const isUnclear = (error: unknown): boolean =>
  error instanceof ProviderError && error.disposition === "ambiguous";
/** The provider said yes, in words that we do not know. */
const isDone = (error: unknown): boolean =>
  error instanceof ProviderError && error.disposition === "contract";

const sender =
  (
    { client, clientId, clock, random, endsAt, signal }: SendOptions,
    noteUnclear: () => void,
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
          noteUnclear();
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

/**
 * Makes one change, whatever has become of its target since the plan was made.
 * @param noteUnclear called when a request may have taken effect, may do so later, or never
 * @returns what was done: an update instead of a create where somebody had been faster
 * @throws ProviderError
 */
export const makeChange = (
  options: SendOptions,
  change: Change,
  noteUnclear: () => void,
): Promise<Change["action"]> => {
  const send = sender(options, noteUnclear);
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
