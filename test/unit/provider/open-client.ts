import { expect } from "vitest";
import { updateContainer } from "../../../lib/contract/containers.ts";
import { getInstance, resumeInstance } from "../../../lib/contract/instances.ts";
import { updatePolicy } from "../../../lib/contract/lifecycle-policies.ts";
import { createRouter } from "../../../lib/contract/routers.ts";
import { createStorageEvent, updateStorageEvent } from "../../../lib/contract/storage-events.ts";
import { getTask } from "../../../lib/contract/tasks.ts";
import type { Clock } from "../../../lib/platform/ports/clock.ts";
import { type ClientOptions, createClient } from "../../../lib/provider/client.ts";
import { ProviderError } from "../../../lib/provider/provider-error.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

export const API_KEY = "1234$abcdef";
/** Start of the virtual clock, 2026-01-01T00:00:00Z. */
const NOW = Date.UTC(2026, 0, 1);
export const ATTEMPT_TIMEOUT_MS = 10_000;

/** A clock that counts its running sleeps. */
const countSleepers = (clock: Clock) => {
  let asleep = 0;
  const sleep: Clock["sleep"] = async (durationMs, signal) => {
    asleep += 1;
    await clock.sleep(durationMs, signal);
    asleep -= 1;
  };
  return { now: clock.now, sleep, asleep: () => asleep };
};

export const openClient = (options: Partial<ClientOptions> = {}) => {
  const virtualClock = createVirtualClock(NOW);
  const clock = countSleepers(virtualClock);
  const client = createClient({
    baseUrl: "https://api.example",
    apiKey: async () => API_KEY,
    fetch: async () => {
      throw new Error("the test has no fetch");
    },
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    paths: {},
    clock,
    ...options,
  });
  const path = { project_id: 1, region_id: 2 };
  const event = { name: "reaching_used_space", bytes: "18446744073709551615" } as const;

  /** One call of each kind, by the operation's id. */
  const calls = {
    "update-container": (signal?: AbortSignal) =>
      client.call(
        updateContainer,
        { params: { ...path, container_name: "web" }, query: {}, body: { timeout: 5 } },
        signal,
      ),
    "resume-instance": () =>
      client.call(resumeInstance, {
        params: { ...path, instance_id: "i" },
        query: {},
        body: undefined,
      }),
    "update-policy": () =>
      client.call(updatePolicy, {
        params: { ...path, policy_id: 3 },
        query: {},
        body: { status: "paused" },
      }),
    "create-router": () =>
      client.call(createRouter, { params: path, query: {}, body: { name: "router" } }),
    "create-storage-event": () =>
      client.call(createStorageEvent, { params: {}, query: {}, body: event }),
    "update-storage-event": () =>
      client.call(updateStorageEvent, { params: {}, query: {}, body: event }),
    "get-instance": (signal?: AbortSignal) =>
      client.call(
        getInstance,
        { params: { ...path, instance_id: "i" }, query: {}, body: undefined },
        signal,
      ),
    "get-task": () =>
      client.call(getTask, { params: { task_id: "t" }, query: {}, body: undefined }),
  };
  return { client, calls, clock: virtualClock, asleep: clock.asleep };
};

export type CallId = keyof ReturnType<typeof openClient>["calls"];

/** Returns the ProviderError of a call; the test fails if the call succeeds. */
export const errorOf = async (call: Promise<unknown>): Promise<ProviderError> => {
  const error = await call.then(
    () => new Error("the call succeeded"),
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(ProviderError);
  // The line above has checked it.
  return error as ProviderError;
};

/** All text of an error that a logger could print. */
export const everythingIn = (error: unknown): string =>
  error instanceof Error
    ? `${error.message} ${error.stack} ${JSON.stringify(error)} ${JSON.stringify(Object.getOwnPropertyDescriptors(error))} ${everythingIn(error.cause)}`
    : (JSON.stringify(error) ?? "");
