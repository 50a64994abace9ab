import { expect, test } from "vitest";
import { listStorageEvents } from "../../../lib/contract/storage-events.ts";
import { thresholdsOf } from "./configs.ts";
import type { Stage } from "./stage.ts";
import { clientOf } from "./stage.ts";

/** Describes how the provider's thresholds follow the config. */
export const describeThresholds = (stageOf: () => Stage): void => {
  test("makes the provider's thresholds equal to a config whenever it is written", async () => {
    const stage = stageOf();
    await stage.writeThresholds(thresholdsOf("500 GiB"));
    await stage.events.first(
      "the first sync",
      ({ "detail-type": type, detail }) =>
        type === "ThresholdsSynced" && detail.data.counts.created === 2,
    );
    await stage.writeThresholds(thresholdsOf("18446744073709551615"));

    const changed = await stage.events.first(
      "the second sync",
      ({ "detail-type": type, detail }) =>
        type === "ThresholdsSynced" && detail.data.counts.updated === 1,
    );

    expect(changed.detail.data).toMatchObject({
      outcome: "complete",
      cause: "object-created",
      changes: [
        {
          action: "update",
          bucket_name: "scenario-photos",
          before: { bytes: "536870912000" },
          after: { bytes: "18446744073709551615" },
        },
      ],
    });
    const listed = await clientOf(stage).call(listStorageEvents, {
      params: {},
      query: {},
      body: undefined,
    });
    expect(listed.reaching_used_space).toContainEqual(
      expect.objectContaining({
        bucket_name: "scenario-photos",
        bytes: "18446744073709551615",
      }),
    );
  });

  test("changes nothing for an invalid config, and reports the line", async () => {
    const stage = stageOf();
    await stage.writeThresholds(`${thresholdsOf("1 GiB")}  - name: nonsense\n`);

    const rejected = await stage.events.first(
      "the rejection",
      (event) =>
        event["detail-type"] === "ThresholdsRejected" && event.detail.data.reason === "invalid",
    );

    expect(rejected.detail.data.problems).toMatchObject([{ line: 9 }]);
  });
};
