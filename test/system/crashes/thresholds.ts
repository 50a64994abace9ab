import { expect } from "vitest";
import type { StorageEventRecord } from "../../../lib/service/state/storage-events.ts";
import { askProvider } from "./at-provider.ts";
import type { Cloud } from "./cloud.ts";
import type { Difference } from "./differences.ts";
import type { Scenario } from "./scenario.ts";

const CONFIG = `
prune: true
thresholds:
  - { name: reaching_used_space, bucket_name: a, bytes: 1 }
  - { name: reaching_used_space, bucket_name: b, bytes: 2 }
  - { name: reaching_used_space, bucket_name: c, bytes: 3 }
`;
/** One changes, one is new, one is wanted no more. */
const NEXT = CONFIG.replace("bytes: 1", "bytes: 9").replace("bucket_name: c", "bucket_name: d");
const INVALID = "thresholds: [{ name: reaching_used_space }]";
/** Longer than a sync with its retries. */
const LATER_MS = 10 * 60_000;

const UNWANTED: StorageEventRecord = {
  client_id: 1,
  uuid: "4b8e0c52-7d0a-4f0e-9a55-0c7f6f1d2e09",
  name: "reaching_used_space",
  bucket_name: "unwanted",
  bytes: "1",
};

const actual = async (cloud: Cloud): Promise<readonly string[]> =>
  (await cloud.service.records("storage_events"))
    .map(({ bucket_name, bytes }) => `${bucket_name} ${bytes}`)
    .toSorted();

/** Somebody else takes one away. */
const removeFirst = (cloud: Cloud): Promise<Response> =>
  askProvider(cloud, "DELETE", "/storage/notifications/v1/event", {
    name: "reaching_used_space",
    bucket_name: "a",
  });

/** What got no answer, or was sent by somebody who died, may still take effect for a while. */
const MAY_STILL_ACT: Difference = {
  facts: /^ledger > thresholds#local > applied > \d+ > /,
  how: "other",
  after: /^(?:killed|fails)/,
  because:
    "where thresholds cannot be listed, what may still take effect is remembered, a deletion too",
};

/** A sync that comes again does what is left to do, and tells of that. */
const GONE_ON_WITH: readonly Difference[] = [
  {
    facts: /^ledger > thresholds#local > run$/,
    how: "more",
    after: /./,
    because: "the run that was cut off has a number too",
  },
  {
    facts: /^events > ThresholdsSynced #\d > data > (?:counts|changes)(?: |$)/,
    how: "other",
    after: /./,
    because: "what the run that was cut off did is found done by the next one",
  },
];

/** Each comparison is told of, and a tick that comes again compares again. */
const COMPARED_AGAIN: Difference = {
  facts: /^events > ThresholdsSynced(?:$| #3 > )/,
  how: "other",
  after: /ledger\.write|bus\.publish|acknowledge/,
  because: "the third one says that nothing had to be changed any more",
};

/** The scheduled job that makes thresholds equal to a file. */
export const THRESHOLDS: readonly Scenario[] = [
  {
    name: "a config that is written, and written anew with several changes",
    state: (state) => ({ ...state, storage_events: [UNWANTED] }),
    async course(cloud) {
      cloud.writeConfig(CONFIG);
      await cloud.pass(LATER_MS);
      cloud.writeConfig(NEXT);
    },
    async end(cloud) {
      expect(await actual(cloud)).toEqual(["a 9", "b 2", "d 3"]);
      expect(cloud.told()).toEqual(["ThresholdsSynced", "ThresholdsSynced"]);
    },
    mayDiffer: GONE_ON_WITH,
  },
  {
    name: "a config of an account whose thresholds cannot be listed",
    account: { lists: false },
    state: (state) => ({ ...state, storage_events: [] }),
    async course(cloud) {
      cloud.writeConfig(CONFIG);
      await cloud.pass(LATER_MS);
      cloud.writeConfig(NEXT);
    },
    async end(cloud) {
      expect(await actual(cloud)).toEqual(["a 9", "b 2", "d 3"]);
      expect(cloud.told()).toEqual(["ThresholdsSynced", "ThresholdsSynced"]);
    },
    mayDiffer: [...GONE_ON_WITH, MAY_STILL_ACT],
  },
  {
    name: "drift, which the schedule finds",
    state: (state) => ({ ...state, storage_events: [] }),
    async course(cloud) {
      cloud.writeConfig(CONFIG);
      await cloud.pass(LATER_MS);
      await removeFirst(cloud);
      cloud.tick("sync-thresholds");
    },
    async end(cloud) {
      expect(await actual(cloud)).toEqual(["a 1", "b 2", "c 3"]);
      expect(cloud.told()).toEqual(["ThresholdsSynced", "ThresholdsDrifted", "ThresholdsSynced"]);
    },
    mayDiffer: [...GONE_ON_WITH, COMPARED_AGAIN],
  },
  {
    name: "a config that is not valid",
    state: (state) => ({ ...state, storage_events: [UNWANTED] }),
    course: (cloud) => cloud.writeConfig(INVALID),
    async end(cloud) {
      expect(await actual(cloud)).toEqual(["unwanted 1"]);
      expect(cloud.told()).toEqual(["ThresholdsRejected"]);
    },
    mayDiffer: [],
  },
];
