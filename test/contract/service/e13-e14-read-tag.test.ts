import { describe, expect, test } from "vitest";
import { openTarget, place, refusedFields, UNKNOWN_ID } from "./target.ts";

const { call, one, elsewhere } = await openTarget();

const TAGGED = [
  {
    what: "floating IP",
    list: "floating_ips",
    path: "/cloud/v1/floatingips",
    idField: "floating_ip_id",
  },
  { what: "network", list: "networks", path: "/cloud/v1/networks", idField: "network_id" },
] as const;

describe.each(TAGGED)("a tag of a $what", ({ what, list, path, idField }) => {
  const tagged = one(list, ({ tags }) => tags.length > 0);
  const TAG = `${path}/${place(tagged)}/${tagged.id}/metadata_item`;
  const keys = new Set(tagged.tags.map(({ key }) => key));
  const [key = ""] = keys;

  const get = (wanted: string) => call("GET", `${TAG}?${new URLSearchParams({ key: wanted })}`);

  test.each(tagged.tags)("the tag $key is returned with key, value and read_only", async (tag) => {
    const answer = await get(tag.key);

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(tag);
  });

  test.each([
    ["does not exist", "no-such-tag"],
    ["differs in letter case", key.toUpperCase()],
    ["is the beginning of a longer one", key.slice(0, -1)],
  ])("a key that %s returns 404 with a message about the tag", async (_, wanted) => {
    const answer = await get(wanted);

    expect(keys).not.toContain(wanted);
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ exception_class: "NotFoundError" });
    expect(answer.body.message).toMatch(/tag/);
  });

  test.each([
    ["1 character", "~"],
    ["2 characters", "~~"],
    ["254 characters", "k".repeat(254)],
    ["255 characters", "k".repeat(255)],
    ["255 characters, counted as people count them", "😀".repeat(255)],
    ["words with a space", "my tag"],
    ["two lines", "my\ntag"],
    ["an equals sign", "my=tag"],
  ])("a key of %s is accepted and returns 404", async (_, wanted) => {
    expect((await get(wanted)).status).toBe(404);
  });

  test.each([
    ["empty", ""],
    ["256 characters long", "k".repeat(256)],
  ])("a key %s is refused", async (_, wanted) => {
    expect(refusedFields(await get(wanted))).toEqual(["key"]);
  });

  test.each([
    ["key", ""],
    ["key", `?key=${encodeURIComponent(key)}&key=other`],
    ["value", `?key=${encodeURIComponent(key)}&value=1`],
  ])("a query that breaks a rule of %s is refused: %j", async (field, query) => {
    expect(refusedFields(await call("GET", `${TAG}${query}`))).toEqual([field]);
  });

  test.each([
    ...elsewhere(tagged).map(([name, where]) => [name, TAG.replace(place(tagged), where)]),
    ["an unknown id", TAG.replace(tagged.id, UNKNOWN_ID)],
  ])(`the ${what} returns 404 by %s with a message about it`, async (_, elsewherePath) => {
    const answer = await call("GET", `${elsewherePath}?key=${encodeURIComponent(key)}`);

    expect(answer.status).toBe(404);
    expect(answer.body.message).toContain(what);
  });

  test("an id other than a UUID is refused", async () => {
    const refused = await call("GET", `${TAG.replace(tagged.id, "no-uuid")}?key=my-tag`);

    expect(refusedFields(refused)).toEqual([idField]);
  });
});
