import { expect } from "vitest";
import type { StorageEventRecord } from "../../../lib/service/state/storage-events.ts";
import type { Cloud } from "./cloud.ts";
import type { Difference } from "./differences.ts";
import { describeScenarios } from "./laws.ts";
import type { Scenario } from "./scenario.ts";

const CONFIG = `
prune: true
thresholds:
  - { name: reaching_used_space, bucket_name: a, bytes: 1 }
  - { name: reaching_used_space, bucket_name: b, bytes: 2 }
  - { name: reaching_used_space, bucket_name: c, bytes: 3 }
`;
/** One threshold changes, one is new, one is no longer wanted. */
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
  (await cloud.records("storage_events"))
    .map(({ bucket_name, bytes }) => `${bucket_name} ${bytes}`)
    .toSorted();

/** Deletes a threshold as another client. */
const removeFirst = (cloud: Cloud): Promise<Response> =>
  cloud.meddle("DELETE", "/storage/notifications/v1/event", {
    name: "reaching_used_space",
    bucket_name: "a",
  });

/** A request without an answer, or of a killed sync, may still take effect for a while. */
const MAY_STILL_ACT: Difference = {
  facts: /^ledger > thresholds#local > applied > \d+ > /,
  how: "other",
  after: /^killed|fails|lost|^reset|twice/,
  because:
    "where thresholds cannot be listed, requests that may still take effect are recorded, deletions too",
};

/** A repeated sync does and publishes only what is left. */
const GONE_ON_WITH: readonly Difference[] = [
  {
    facts: /^ledger > thresholds#local > run$/,
    how: "more",
    after: /./,
    because: "the interrupted run has a number too",
  },
  {
    facts: /^events > ThresholdsSynced #\d > data > (?:counts|changes)(?: |$)/,
    how: "other",
    after: /./,
    because: "the next run finds the changes of the interrupted run",
  },
  {
    facts: /^ledger > thresholds#local > lastSync > counts > /,
    how: "other",
    after: /./,
    because: "the last sync makes the changes that the interrupted run left",
  },
];

/** Each comparison is published, and a repeated tick or invocation compares again. */
const COMPARED_AGAIN: Difference = {
  facts: /^events > ThresholdsSynced(?:$| #3 > )/,
  how: "other",
  after: /ledger\.|bus\.publish|^tick twice tick threshold-drift/,
  because: "the third run reports that no change was left",
};

/** A config that is replaced by another one. */
const REPLACED: Pick<Scenario, "course" | "end"> = {
  async course(cloud) {
    cloud.writeConfig(CONFIG);
    await cloud.pass(LATER_MS);
    cloud.writeConfig(NEXT);
  },
  async end(cloud) {
    expect(await actual(cloud)).toEqual(["a 9", "b 2", "d 3"]);
    expect(cloud.publishedTypes()).toEqual(["ThresholdsSynced", "ThresholdsSynced"]);
  },
};

// The scheduled job that makes thresholds equal to a file.
describeScenarios([
  {
    name: "a config that is written, then replaced with several changes",
    state: (state) => ({ ...state, storage_events: [UNWANTED] }),
    ...REPLACED,
    mayDiffer: GONE_ON_WITH,
  },
  {
    name: "a config of an account whose thresholds cannot be listed",
    account: { lists: false },
    state: (state) => ({ ...state, storage_events: [] }),
    ...REPLACED,
    mayDiffer: [...GONE_ON_WITH, MAY_STILL_ACT],
  },
  {
    name: "drift that the schedule finds",
    state: (state) => ({ ...state, storage_events: [] }),
    async course(cloud) {
      cloud.writeConfig(CONFIG);
      await cloud.pass(LATER_MS);
      await removeFirst(cloud);
      cloud.tick("sync-thresholds");
    },
    async end(cloud) {
      expect(await actual(cloud)).toEqual(["a 1", "b 2", "c 3"]);
      expect(cloud.publishedTypes()).toEqual([
        "ThresholdsSynced",
        "ThresholdsDrifted",
        "ThresholdsSynced",
      ]);
    },
    mayDiffer: [...GONE_ON_WITH, COMPARED_AGAIN],
  },
  {
    name: "an invalid config",
    state: (state) => ({ ...state, storage_events: [UNWANTED] }),
    course: (cloud) => cloud.writeConfig(INVALID),
    async end(cloud) {
      expect(await actual(cloud)).toEqual(["unwanted 1"]);
      expect(cloud.publishedTypes()).toEqual(["ThresholdsRejected"]);
    },
    mayDiffer: [],
  },
]);
