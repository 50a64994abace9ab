import { expect, test } from "vitest";
import { listThresholds } from "../../../../lib/jobs/thresholds/threshold.ts";
import { createClient } from "../../../../lib/provider/client.ts";
import { scriptProvider } from "../../../support/provider.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";

/** Thresholds from a reply that the embedded service never gives. */
const listOf = (text: string) => {
  const headers = { "content-type": "application/json" };
  const provider = scriptProvider({ "GET ": () => new Response(text, { headers }) });
  const client = createClient({
    ...provider,
    baseUrl: "http://provider.test",
    apiKey: async () => "key",
    clock: createVirtualClock(),
    attemptTimeoutMs: 1_000,
    paths: {},
  });
  return listThresholds(client);
};

test("missing, null and empty groups hold no thresholds, and unknown names are left out", async () => {
  expect(
    await listOf(
      '{"reaching_used_space": null, "reaching_used_traffic": [], "reaching_the_moon": [{"bytes": 1}]}',
    ),
  ).toEqual([]);
});

test("null equals absent, and the limit is the one that belongs to the name", async () => {
  expect(
    await listOf(
      '{"reaching_used_space": [{"uuid": null, "storage_name": null, "bucket_name": "b", "bytes": 18446744073709551615, "count": 7}], "reaching_files_quantity": [{"storage_name": "", "bytes": 7}]}',
    ),
  ).toEqual([
    { name: "reaching_used_space", bucket_name: "b", limit: "18446744073709551615" },
    { name: "reaching_files_quantity", storage_name: "" },
  ]);
});

test("an unreadable limit counts as none, an entry with an unreadable target is left out, and neither hides another", async () => {
  expect(
    await listOf(
      '{"reaching_used_space": [{"bucket_name": "a", "bytes": "5"}, {"bucket_name": "b", "bytes": -1, "uuid": 7}, {"bucket_name": 5, "bytes": 5}, {"bucket_name": "\\ud800", "bytes": 5}, null, {"bucket_name": "c", "bytes": 5, "count": 18446744073709551616}]}',
    ),
  ).toEqual([
    { name: "reaching_used_space", bucket_name: "a" },
    { name: "reaching_used_space", bucket_name: "b" },
    { name: "reaching_used_space", bucket_name: "c", limit: "5" },
  ]);
});

test("a reply without a list is an error, not an empty list", async () => {
  await expect(listOf('{"reaching_used_space": {"bytes": 5}}')).rejects.toMatchObject({
    disposition: "contract",
  });
  await expect(listOf("[]")).rejects.toMatchObject({ disposition: "contract" });
});
