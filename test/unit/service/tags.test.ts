import { describe, expect, test } from "vitest";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import type { NetworkRecord } from "../../../lib/service/state/networks.ts";
import { stateSchema } from "../../../lib/service/state/state.ts";
import { startService } from "./harness.ts";

const NETWORK = "b39792c3-3160-4356-912e-ba396c95cdcf";
const FLOATING_IP = "c64e5db1-5f1f-43ec-a8d9-5090df85b82d";
const LONGEST = "k".repeat(255);

/** Starts the service with these tags on the first network and the first floating IP. */
const startWithTags = (networkTags: NetworkRecord["tags"], floatingIpTags: NetworkRecord["tags"]) =>
  startService({
    state: (builtIn) => ({
      ...builtIn,
      networks: builtIn.networks.map((one, i) => (i === 0 ? { ...one, tags: networkTags } : one)),
      floating_ips: builtIn.floating_ips.map((one, i) =>
        i === 0 ? { ...one, tags: floatingIpTags } : one,
      ),
    }),
  });

describe.each([
  { kind: "networks", what: "network", id: NETWORK },
  { kind: "floatingips", what: "floating IP", id: FLOATING_IP },
])("a tag of a $what", ({ kind, what, id }) => {
  const pathOf = (place: string, key: string) =>
    `/cloud/v1/${kind}/${place}/metadata_item?key=${encodeURIComponent(key)}`;
  const tagPath = (key: string) => pathOf(`1234567/76/${id}`, key);

  test("has key, value and read_only", async () => {
    const { send } = await startService();

    const own = await send("GET", tagPath("cost-center"));
    const readOnly = await send("GET", tagPath("my-tag"));

    expect([own.status, readOnly.status]).toEqual([200, 200]);
    expect(own.body).toEqual({ key: "cost-center", value: "platform", read_only: false });
    expect(readOnly.body).toEqual({ key: "my-tag", value: "my-tag-value", read_only: true });
  });

  test("is found by a resource id in capital letters", async () => {
    const { send } = await startService();

    const answer = await send("GET", pathOf(`1234567/76/${id.toUpperCase()}`, "my-tag"));

    expect(answer.body).toMatchObject({ value: "my-tag-value" });
  });

  test("is found on a resource with an id in capital letters in a seed", async () => {
    const { send } = await startService({
      state: (builtIn) =>
        stateSchema.parse({
          ...builtIn,
          networks: [{ ...builtIn.networks[0], id: NETWORK.toUpperCase() }],
          floating_ips: [{ ...builtIn.floating_ips[0], id: FLOATING_IP.toUpperCase() }],
        }),
    });

    expect((await send("GET", tagPath("my-tag"))).body).toMatchObject({ value: "my-tag-value" });
  });

  test.each([["my"], ["My-Tag"], ["my-tag-value"], ["constructor"], [LONGEST], ["😀".repeat(255)]])(
    "is not found by the key %s",
    async (key) => {
      const { send } = await startService();

      const missing = await send("GET", tagPath(key));

      expect(missing.status).toBe(404);
      expect(missing.body).toMatchObject({
        exception_class: "NotFoundError",
        message: "tag not found",
      });
    },
  );

  test("may have the longest key and the longest value", async () => {
    const tag = { key: LONGEST, value: "v".repeat(255), read_only: false };
    const { send } = await startWithTags([tag], [tag]);

    expect((await send("GET", tagPath(LONGEST))).body).toEqual(tag);
  });

  test.each(["cost center", "a=b", " ", "\n", "k=\tv "])("may have the key %j", async (key) => {
    const tag = { key, value: "v", read_only: false };
    const { send } = await startWithTags([tag], [tag]);

    expect((await send("GET", tagPath(key))).body).toEqual(tag);
  });

  test.each([
    ["without a key", "", ["required"]],
    ["with an empty key", "?key=", ["1 to 255 characters"]],
    ["with a key of 256 characters", `?key=${"k".repeat(256)}`, ["1 to 255 characters"]],
    ["with two keys", "?key=my-tag&key=cost-center", ["a string"]],
  ])("is not returned %s, nor is its resource", async (_, query, rules) => {
    const { send } = await startService();
    const unknown = "00000000-0000-4000-8000-000000000000";

    const refused = await send("GET", `/cloud/v1/${kind}/1234567/76/${id}/metadata_item${query}`);
    const nowhere = await send("GET", `/cloud/v1/${kind}/1/2/${unknown}/metadata_item${query}`);

    expect([refused.status, nowhere.status]).toEqual([400, 400]);
    expect(refused.body.invalid_fields).toEqual({ key: rules });
  });

  test.each([
    ["an unknown id", "1234567/76/00000000-0000-4000-8000-000000000000"],
    ["another region", `1234567/148/${id}`],
    ["another project", `1186668/76/${id}`],
    ["a foreign project", `1337/76/${id}`],
  ])("is not found under %s", async (_, place) => {
    const { send } = await startService();

    const missing = await send("GET", pathOf(place, "my-tag"));

    expect(missing.status).toBe(404);
    expect(missing.body).toMatchObject({ message: `${what} not found` });
  });

  test("is not found by another client", async () => {
    const { send } = await startService();

    const missing = await send("GET", tagPath("my-tag"), {
      headers: { authorization: `apikey ${BUILT_IN_API_KEYS.second}` },
    });

    expect(missing.status).toBe(404);
    expect(missing.body).toMatchObject({ message: `${what} not found` });
  });

  test("has a UUID as id", async () => {
    const { send } = await startService();

    const refused = await send("GET", pathOf("1234567/76/net1", "my-tag"));

    expect(refused.status).toBe(400);
    expect(Object.values(refused.body.invalid_fields)).toEqual([["a UUID"]]);
  });
});

test("the tags of a network and of a floating IP are separate", async () => {
  const { send } = await startWithTags(
    [{ key: "of", value: "network", read_only: false }],
    [{ key: "of", value: "floating IP", read_only: false }],
  );

  const ofNetwork = await send(
    "GET",
    `/cloud/v1/networks/1234567/76/${NETWORK}/metadata_item?key=of`,
  );
  const ofFloatingIp = await send(
    "GET",
    `/cloud/v1/floatingips/1234567/76/${FLOATING_IP}/metadata_item?key=of`,
  );

  expect([ofNetwork.body.value, ofFloatingIp.body.value]).toEqual(["network", "floating IP"]);
});
