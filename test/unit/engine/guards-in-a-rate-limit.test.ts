import { setImmediate as letOthersRun } from "node:timers/promises";
import { expect, test } from "vitest";
import { advanceCommand } from "../../../lib/engine/advance.ts";
import { commandKey, commands } from "../../../lib/engine/command.ts";
import { handleMessage } from "../../../lib/engine/message-handler.ts";
import { readMessage } from "../../../lib/engine/queue-message.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../../lib/platform/deployment.ts";
import type { Account } from "../../../lib/provider/accounts.ts";
import { openAccounts } from "../../../lib/provider/accounts.ts";
import { parseAccounts } from "../../../lib/provider/accounts-config.ts";
import { json, scriptProvider } from "../../support/provider.ts";
import { PLACE, requestOf } from "../../support/requests.ts";
import { createWorld, SENDER } from "../../support/world.ts";

const LANES = 60;
const GUARDS = 4;
const REQUESTS_PER_SECOND = 4;
const STEP_MS = 50;

const NETWORK = { ...PLACE, network_id: "b39792c3-3160-4356-912e-ba396c95cdcf" };
const guards = Array.from({ length: GUARDS }, () => ({ network: NETWORK, key: "k", equals: "v" }));

/** A world with a real rate limit for its account. */
const createRateLimitedWorld = async () => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { id: 1, name: "abc", status: "paused" }),
    "GET /cloud/v1/networks": () => json(200, { key: "k", value: "v", read_only: false }),
  });
  const opened: { account?: Account } = {};
  const account = (): Account => opened.account!;
  const local: Partial<Account> = {
    ready: (signal, permits) => account().ready(signal, permits),
    get client() {
      return account().client;
    },
  };
  const world = await createWorld({ provider: () => provider, accounts: { local } });
  const config = {
    name: "local",
    base_url: "http://provider.test",
    api_key: { environment: "KEY" },
    senders: ["own"],
    requests_per_second: REQUESTS_PER_SECOND,
  };
  const ports = {
    ...world.newInvocation().deps,
    clock: world.clock,
    secrets: { read: async () => "none" },
    environment: { KEY: "key" },
    fetch: provider.fetch,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  };
  const found = openAccounts(parseAccounts({ accounts: [config] }), ports)("local");
  if (found) opened.account = found;
  return { world, provider };
};

test("many guarded commands share a small rate limit without reading their guards in vain", async () => {
  const { world, provider } = await createRateLimitedWorld();
  const startedAt = world.clock.now();
  const time = { signal: new AbortController().signal, has: () => true };
  const runOne = async (id: string, policy: number): Promise<void> => {
    const deps = { ...world.newInvocation().deps, clock: world.clock };
    const params = { ...PLACE, policy_id: policy };
    const data = { operation: "update-policy", params, body: { status: "paused" }, guards };
    const body = JSON.stringify(requestOf(id, data));
    await handleMessage(deps, readMessage(body, deps), body, time);
    for (;;) {
      const stored = (await commands.read(world.ledger, commandKey({ sender: SENDER, id })))!;
      const { state } = stored.value;
      if (state.status !== "running") return;
      await world.clock.sleep(Math.max(STEP_MS, state.notBefore - world.clock.now()));
      await advanceCommand(deps, stored, time);
    }
  };

  let isOver = false;
  const all = Promise.all(
    Array.from({ length: LANES }, (_, index) => runOne(`c${index}`, index + 1)),
  ).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (let turn = 0; turn < 8; turn += 1) await letOthersRun();
    await world.clock.advance(STEP_MS);
  }
  await all;

  const idealMs = ((LANES * (GUARDS + 1)) / REQUESTS_PER_SECOND) * 1_000;
  expect(provider.count("PATCH ")).toBe(LANES);
  expect(provider.count("GET ")).toBe(LANES * GUARDS);
  expect(world.clock.now() - startedAt).toBeLessThan(2 * idealMs);
});
