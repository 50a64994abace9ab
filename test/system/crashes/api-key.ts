import { expect } from "vitest";
import { type Fetch, json } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import type { Difference } from "./differences.ts";
import { AROUND_A_SEND, DONE_BEFORE, sentAgain, UNCOUNTED } from "./named-differences.ts";
import type { Scenario } from "./scenario.ts";

const NEW_KEY = "canary-2$f6e5d4c3b2a1";
/** Late enough for all earlier faults to be repaired. */
const PARAMETER_CHANGES_MS = 60_000;

/** Wraps a provider that accepts another key than the parameter holds at first. */
const keyWasReplaced = (service: Fetch): Fetch => {
  let old: string | undefined;
  return async (request) => {
    const given = request.headers.get("authorization") ?? "";
    old ??= given;
    if (given !== `apikey ${NEW_KEY}`) return json(401, { error: "token_not_valid" });
    const headers = new Headers(request.headers);
    headers.set("authorization", old);
    return service(new Request(request, { headers }));
  };
};

/** An account's event is published before the command's reply is recorded. */
const WITH_NEWS = new RegExp(`${AROUND_A_SEND.source}|^killed.* bus\\.publish`);

/** While a key is refused, one half-open probe leaves every 30 s and no other request. */
const REFUSED_SO_OFTEN: readonly Difference[] = [
  {
    facts:
      /^(?:ledger > command#.*\/c1|events > CommandSucceeded c1 #1 > data) > (?:attemptCount|attempts)(?: |$)/,
    how: "other",
    after: /./,
    because: "the number of refusals depends on the instant of the first probe",
  },
  {
    facts: /^events > AccountKey.* > metadata > (?:correlationId|causationId)$/,
    how: "other",
    after: /./,
    because: "the instant of the first refusal identifies the episode",
  },
];

/** Commands of an account with a refused key. */
export const API_KEY: readonly Scenario[] = [
  {
    name: "a key that is refused until the new one can be read",
    between: keyWasReplaced,
    async course(cloud) {
      await cloud.send(requests.updatePolicy("c1"));
      await cloud.pass(PARAMETER_CHANGES_MS);
      cloud.key.text = NEW_KEY;
      // A refusal that could not be recorded is recorded with the next reply.
      await cloud.pass(PARAMETER_CHANGES_MS);
      await cloud.send(requests.createEvent("c2"));
    },
    end: (cloud) =>
      expect(cloud.publishedTypes()).toEqual([
        "CommandAccepted",
        "AccountKeyRefused",
        "AccountKeyAccepted",
        "CommandSucceeded",
        "CommandAccepted",
        "CommandSucceeded",
      ]),
    mayDiffer: [...sentAgain(WITH_NEWS), ...REFUSED_SO_OFTEN, DONE_BEFORE, UNCOUNTED],
  },
];
