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
  [
    "the provider of the run if it has no base_url",
    {},
    "http://own.test/own/tasks/t apikey own-key",
  ],
  [
    "the provider of the run with its own api_key",
    { api_key: { environment: "ACME_KEY" } },
    "http://own.test/own/tasks/t apikey key-in-environment",
  ],
  [
    "its base_url with a key from SSM",
    { base_url: "http://acme.test", api_key: { parameter: "/acme" } },
    "http://acme.test/v1/tasks/t apikey key-in/acme",
  ],
  [
    "its base_url with its own paths",
    {
      base_url: "http://acme.test",
      api_key: { environment: "ACME_KEY" },
      task_path: "/cloud/v1/tasks/{task_id}",
    },
    "http://acme.test/cloud/v1/tasks/t apikey key-in-environment",
  ],
])("an account calls %s", async (_, account, request) => {
  const { ask, sent } = open(account, OWN);

  await ask();

  expect(sent).toEqual([request]);
});

test("settings of the API come from the account if it has a base_url, else from the run", () => {
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

test.each(["MISSING", "EMPTY"])(
  "a call fails if the variable %s holds no key",
  async (environment) => {
    const { ask, sent } = open({ api_key: { environment } }, OWN);

    await expect(ask()).rejects.toMatchObject({
      code: "key-unavailable",
      cause: new Error(`environment variable ${environment} is not set`),
    });

    expect(sent).toEqual([]);
  },
);

test("opening an account without base_url fails if the run has no provider", () => {
  expect(() => open({})).toThrow("account acme: base_url or api_key is missing");
});

test("opening an account with base_url and without api_key fails: the run's key is for its own provider", () => {
  const unchecked = (file: unknown) => toAccountsConfig(accountsSchema.parse(file));

  expect(() => open({ base_url: "http://acme.test" }, OWN, unchecked)).toThrow(
    "account acme: base_url or api_key is missing",
  );
});

test("an unknown name opens no account", () => {
  expect(open({}, OWN).accountOf("other")).toBeUndefined();
});
