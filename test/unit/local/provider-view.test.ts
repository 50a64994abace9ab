import { afterEach, expect, test } from "vitest";
import { openProvider, type Provider } from "../../../lib/local/provider.ts";
import { createSystemClock, createSystemRandom } from "../../../lib/platform/system.ts";
import { silentLog } from "../../support/logs.ts";

const surroundings = {
  clock: createSystemClock(),
  random: createSystemRandom(),
  log: silentLog,
  data: undefined,
  failing: new AbortController(),
};

let provider: Provider | undefined;
afterEach(() => provider?.close());

test("the embedded service has a view of its state, tasks and requests", async () => {
  const choice = { kind: "embedded", port: 0, taskDurationMs: 60_000 } as const;
  provider = await openProvider(choice, surroundings);
  const { baseUrl, view } = provider;
  const headers = { authorization: `apikey ${await provider.apiKey()}` };
  await fetch(`${baseUrl}/cloud/v1/lifecycle_policy/1234567/76/1`, { headers });

  const state = await view?.state();

  expect(state?.baseUrl).toBe(baseUrl);
  expect(state?.kinds).toContainEqual({ kind: "containers", count: 2 });
  expect(await view?.records("containers", 1)).toMatchObject({ count: 2, rows: [{}] });
  expect(await view?.records("nothing", 0)).toBeUndefined();
  expect(await view?.tasks()).toMatchObject({ count: 1, tasks: [{ state: "FINISHED" }] });
  expect(await view?.requests()).toMatchObject([{ operation: "get-policy", status: 200 }]);
});

test("a remote provider has none", async () => {
  const apiKey = async () => "key";
  const remote = { baseUrl: "https://api.example.com", apiKey, paths: {}, canList: true };
  provider = await openProvider({ kind: "remote", ...remote }, surroundings);

  expect(provider.view).toBeUndefined();
});
