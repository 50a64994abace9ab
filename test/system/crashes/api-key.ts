import { expect } from "vitest";
import { type Fetch, json } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import type { Difference } from "./differences.ts";
import { AROUND_A_SEND, DONE_BEFORE, sentAgain, UNCOUNTED } from "./named-differences.ts";
import type { Scenario } from "./scenario.ts";

const NEW_KEY = "canary-2$f6e5d4c3b2a1";
/** Later than whatever goes wrong before is made up for. */
const PARAMETER_CHANGES_MS = 60_000;

/** Another key opens the provider than the parameter has. */
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

/** What an answer says to all is told before what it says to the command is recorded. */
const WITH_NEWS = new RegExp(`${AROUND_A_SEND.source}|^killed.* bus\\.publish`);

/** While a key is refused one request in half a minute is tried, and in between none. */
const REFUSED_SO_OFTEN: readonly Difference[] = [
  {
    facts:
      /^(?:ledger > command#.*\/c1|events > CommandSucceeded c1 #1 > data) > (?:attemptCount|attempts)(?: |$)/,
    how: "other",
    after: /./,
    because: "how often it was refused depends on when that was tried first",
  },
  {
    facts: /^events > AccountKey.* > metadata > (?:correlationId|causationId)$/,
    how: "other",
    after: /./,
    because: "the episode is called by the instant of its first refusal",
  },
];

/** What becomes of an account's commands while its key is refused. */
export const API_KEY: readonly Scenario[] = [
  {
    name: "a key that is refused until the new one can be read",
    between: keyWasReplaced,
    async course(cloud) {
      await cloud.send(requests.updatePolicy("c1"));
      await cloud.pass(PARAMETER_CHANGES_MS);
      cloud.key.text = NEW_KEY;
      // What could not be noted of the first answer is said again by the next one.
      await cloud.pass(PARAMETER_CHANGES_MS);
      await cloud.send(requests.createEvent("c2"));
    },
    end: (cloud) =>
      expect(cloud.told()).toEqual([
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
