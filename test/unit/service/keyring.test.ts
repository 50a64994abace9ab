import { expect, test } from "vitest";
import { createKeyring } from "../../../lib/service/admission.ts";
import { hashApiKey, type KeyRecord } from "../../../lib/service/state/keys.ts";

const recordOf = (apiKey: string, revoked = false): KeyRecord => ({
  ...{ id: `id of ${apiKey}`, sha256: hashApiKey(apiKey), client_id: 1, user_id: 1 },
  ...{ project_ids: [1], revoked },
});

test("a keyring finds each of many keys again, and no other", () => {
  const keys = Array.from({ length: 40 }, (_, index) => `key-${index}`);
  const find = createKeyring(keys.map((key) => recordOf(key)));

  const found = [...keys, ...keys].map((key) => find(key)?.id);

  expect(found).toEqual([...keys, ...keys].map((key) => `id of ${key}`));
  expect(["key-40", "", hashApiKey("key-1")].map(find)).toEqual([undefined, undefined, undefined]);
});

test("a revoked key stays unknown, however often it is presented", () => {
  const find = createKeyring([recordOf("a"), recordOf("b", true)]);

  expect(["b", "a", "b", "b"].map((key) => find(key)?.id)).toEqual([
    ...[undefined, "id of a", undefined, undefined],
  ]);
});
