import { expect } from "vitest";
import * as requests from "../../support/requests.ts";
import type { Difference } from "./differences.ts";
import { describeScenarios } from "./laws.ts";
import { AROUND_A_SEND, DONE_BEFORE, sentAgain, UNCOUNTED } from "./named-differences.ts";

/** Late enough for all earlier faults to be repaired. */
const PARAMETER_CHANGES_MS = 240_000;
const RECORDED_MS = 60_000;

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

// Commands of an account with a refused key.
describeScenarios([
  {
    name: "a key that is refused until the new one can be read",
    async course(cloud) {
      cloud.keys.replace(PARAMETER_CHANGES_MS);
      await cloud.send(requests.updatePolicy("c1"));
      await cloud.pass(PARAMETER_CHANGES_MS);
      // A refusal that could not be recorded is recorded with the next reply.
      await cloud.pass(RECORDED_MS);
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
]);
