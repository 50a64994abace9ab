import { expect, test } from "vitest";
import { planChanges } from "../../../../lib/jobs/thresholds/threshold.ts";

const PHOTOS = { name: "reaching_used_space", bucket_name: "photos" } as const;

test("of two that mean the same target the one that is named as wanted is changed", () => {
  const empty = { ...PHOTOS, storage_name: "", limit: "5" };
  const exact = { ...PHOTOS, limit: "7" };

  const { changes } = planChanges([{ ...PHOTOS, limit: "9" }], [empty, exact], false);

  expect(changes).toEqual([
    { action: "update", threshold: { ...PHOTOS, limit: "9" }, from: exact },
  ]);
});

test("with prune the other one goes", () => {
  const empty = { ...PHOTOS, storage_name: "", limit: "9" };
  const exact = { ...PHOTOS, limit: "9" };

  const plan = planChanges([{ ...PHOTOS, limit: "9" }], [empty, exact], true);

  expect(plan).toEqual({ changes: [{ action: "delete", from: empty }], unchangedCount: 1 });
});

test("one that only means the same is changed under the name that the provider has", () => {
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

test("one without a limit is updated", () => {
  const { changes } = planChanges([{ ...PHOTOS, limit: "0" }], [PHOTOS], false);

  expect(changes.map(({ action }) => action)).toEqual(["update"]);
});

test("one that is listed twice is not deleted because it is wanted once", () => {
  const twice = [
    { ...PHOTOS, limit: "9", uuid: "u1" },
    { ...PHOTOS, limit: "9", uuid: "u2" },
  ];

  expect(planChanges([{ ...PHOTOS, limit: "9" }], twice, true)).toEqual({
    changes: [],
    unchangedCount: 1,
  });
});
