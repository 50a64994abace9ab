import { expect, test } from "vitest";
import { planChanges } from "../../../../lib/jobs/thresholds/threshold.ts";

const PHOTOS = { name: "reaching_used_space", bucket_name: "photos" } as const;

test("of two thresholds with equivalent targets, the one with exactly the wanted names is updated", () => {
  const empty = { ...PHOTOS, storage_name: "", limit: "5" };
  const exact = { ...PHOTOS, limit: "7" };

  const { changes } = planChanges([{ ...PHOTOS, limit: "9" }], [empty, exact], false);

  expect(changes).toEqual([
    { action: "update", threshold: { ...PHOTOS, limit: "9" }, from: exact },
  ]);
});

test("prune deletes the other one", () => {
  const empty = { ...PHOTOS, storage_name: "", limit: "9" };
  const exact = { ...PHOTOS, limit: "9" };

  const plan = planChanges([{ ...PHOTOS, limit: "9" }], [empty, exact], true);

  expect(plan).toEqual({ changes: [{ action: "delete", from: empty }], unchangedCount: 1 });
});

test("a threshold with an equivalent target is updated under the provider's names", () => {
  const empty = { ...PHOTOS, storage_name: "", limit: "5", uuid: "u" };

  const { changes } = planChanges([{ ...PHOTOS, limit: "9" }], [empty], true);

  expect(changes).toEqual([
    {
      action: "update",
      threshold: { ...PHOTOS, storage_name: "", limit: "9" },
      from: empty,
    },
  ]);
});

test("a threshold without a limit is updated", () => {
  const { changes } = planChanges([{ ...PHOTOS, limit: "0" }], [PHOTOS], false);

  expect(changes.map(({ action }) => action)).toEqual(["update"]);
});

test("a threshold that is listed twice and wanted once is not deleted", () => {
  const twice = [
    { ...PHOTOS, limit: "9", uuid: "u1" },
    { ...PHOTOS, limit: "9", uuid: "u2" },
  ];

  expect(planChanges([{ ...PHOTOS, limit: "9" }], twice, true)).toEqual({
    changes: [],
    unchangedCount: 1,
  });
});
