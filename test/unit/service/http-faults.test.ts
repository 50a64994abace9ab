import { expect, test } from "vitest";
import { updatePolicy } from "../../../lib/contract/lifecycle-policies.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../../lib/platform/deployment.ts";
import { createClient } from "../../../lib/provider/client.ts";
import type { ProviderError } from "../../../lib/provider/provider-error.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { createHttpFaults, type HttpFault, SLOW_MS } from "../../support/http-faults.ts";
import { POLICY, startService } from "./harness.ts";

const startBehindFaults = async () => {
  const { service, clock, send } = await startService();
  const faults = createHttpFaults(service.fetch, clock, ({ method }) => method === "PATCH");
  const client = createClient({
    baseUrl: "http://service.test",
    apiKey: async () => BUILT_IN_API_KEYS.first,
    fetch: faults.fetch,
    clock,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    paths: {},
  });
  const update = (name: string) =>
    client
      .call(updatePolicy, {
        params: { project_id: 1234567, region_id: 76, policy_id: 1 },
        query: {},
        body: { name },
      })
      .then(
        (policy) => policy.name,
        ({ disposition, code }: ProviderError) => `${disposition} ${code}`,
      );
  return { faults, clock, update, nameNow: async () => (await send("GET", POLICY)).body.name };
};

test.each<[HttpFault, string, boolean]>([
  ["fails before the effect", "ambiguous server-error", false],
  ["fails after the effect", "ambiguous server-error", true],
  ["a gateway answers HTML 504 before the effect", "ambiguous server-error", false],
  ["a gateway answers HTML 504 after the effect", "ambiguous server-error", true],
  ["is throttled", "throttled throttled", false],
  ["the connection breaks before the effect", "ambiguous connection-lost", false],
  ["the connection breaks after the effect", "ambiguous connection-lost", true],
  ["the reply is cut off", "ambiguous reply-unreadable", true],
])(
  "when a request %s, the client sees %s, and the effect is there: %s",
  async (fault, seen, hasEffect) => {
    const { faults, update, nameNow } = await startBehindFaults();
    const before = await nameNow();
    faults.strike(fault);

    const first = await update("struck-one");
    const afterFirst = await nameNow();
    const second = await update("next-one");

    expect(first).toBe(seen);
    expect(afterFirst).toBe(hasEffect ? "struck-one" : before);
    expect([second, await nameNow(), faults.seen()]).toEqual(["next-one", "next-one", 2]);
  },
);

test.each<[HttpFault, boolean]>([
  ["the effect is slow", false],
  ["the reply is slow", true],
])(
  "when %s, the client gives up while the effect is there: %s, and in the end it always is",
  async (fault, isThereAtOnce) => {
    const { faults, clock, update, nameNow } = await startBehindFaults();
    const before = await nameNow();
    faults.strike(fault);

    const answer = update("slow-one");
    await clock.advance(10_000);
    const seen = await answer;
    const whenGivenUp = await nameNow();
    await clock.advance(SLOW_MS);

    expect(seen).toBe("ambiguous timed-out");
    expect(whenGivenUp).toBe(isThereAtOnce ? "slow-one" : before);
    expect(await nameNow()).toBe("slow-one");
  },
);
