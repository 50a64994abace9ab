import { expect, test } from "vitest";
import { getTask } from "../../../lib/contract/tasks.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../../lib/platform/deployment.ts";
import { type OwnProvider, openAccounts } from "../../../lib/provider/accounts.ts";
import { parseAccounts, toAccountsConfig } from "../../../lib/provider/accounts-config.ts";
import { accountsSchema } from "../../../lib/provider/accounts-schema.ts";
import { createRecordingLog } from "../../support/logs.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { createRecordingBus } from "../../support/recording-bus.ts";
import { createRecordingMetrics } from "../../support/recording-metrics.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const OWN: OwnProvider = {
  baseUrl: "http://own.test",
  apiKey: async () => "own-key",
  paths: { [getTask.id]: "/own/tasks/{task_id}" },
  canList: false,
  ambiguityWindowMs: 5_000,
};

const open = (account: object, own?: OwnProvider, read = parseAccounts) => {
  const ledger = createMemoryLedger();
  const sent: string[] = [];
  const ports = {
    ledger,
    bus: createRecordingBus(ledger, "own"),
    clock: createVirtualClock(),
    random: createSeededRandom(),
    log: createRecordingLog(),
    metrics: createRecordingMetrics(),
    secrets: { read: async (reference: string) => `key-in${reference}` },
    environment: { ACME_KEY: "key-in-environment", EMPTY: "" },
    fetch: async ({ url, headers }: Request) => {
      sent.push(`${url} ${headers.get("authorization")}`);
      return Response.json({ id: "t", state: "RUNNING" });
    },
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  };
  const config = read({ accounts: [{ name: "acme", senders: ["own"], ...account }] });
  const accountOf = openAccounts(config, ports, own);
  const request = { params: { task_id: "t" }, query: {}, body: undefined };
  const ask = async () => accountOf("acme")?.client.call(getTask, request);
  return { accountOf, ask, sent };
};

test.each([
  ["the run's own, when it names none", {}, "http://own.test/own/tasks/t apikey own-key"],
  [
    "the run's own with a key that it names",
    { api_key: { environment: "ACME_KEY" } },
    "http://own.test/own/tasks/t apikey key-in-environment",
  ],
  [
    "the one that it names, with a key from the secrets",
    { base_url: "http://acme.test", api_key: { parameter: "/acme" } },
    "http://acme.test/v1/tasks/t apikey key-in/acme",
  ],
  [
    "the one that it names, with paths of its own",
    {
      base_url: "http://acme.test",
      api_key: { environment: "ACME_KEY" },
      task_path: "/cloud/v1/tasks/{task_id}",
    },
    "http://acme.test/cloud/v1/tasks/t apikey key-in-environment",
  ],
])("an account asks %s", async (_, account, request) => {
  const { ask, sent } = open(account, OWN);

  await ask();

  expect(sent).toEqual([request]);
});

test("facts about a provider come from the run for its own, and from the account for one that it names", () => {
  const named = { base_url: "http://acme.test", api_key: { environment: "ACME_KEY" } };
  const facts = { lists: true, settle: "90s" };

  expect(open({}, OWN).accountOf("acme")).toMatchObject({
    canList: false,
    ambiguityWindowMs: 5_000,
  });
  expect(open({ ...named, ...facts }, OWN).accountOf("acme")).toMatchObject({
    canList: true,
    ambiguityWindowMs: 90_000,
  });
});

test.each(["MISSING", "EMPTY"])("a key in the variable %s cannot be read", async (environment) => {
  const { ask, sent } = open({ api_key: { environment } }, OWN);

  await expect(ask()).rejects.toMatchObject({
    code: "key-unavailable",
    cause: new Error(`the environment variable ${environment} is not set`),
  });

  expect(sent).toEqual([]);
});

test("an account without a provider is not opened where the run has none", () => {
  expect(() => open({})).toThrow("account acme names no provider, or no key");
});

test("an account that names an address and no key is not opened: the run's own key is for its own provider", () => {
  const unchecked = (file: unknown) => toAccountsConfig(accountsSchema.parse(file));

  expect(() => open({ base_url: "http://acme.test" }, OWN, unchecked)).toThrow(
    "account acme names no provider, or no key",
  );
});

test("there is no account that the config does not name", () => {
  expect(open({}, OWN).accountOf("other")).toBeUndefined();
});
