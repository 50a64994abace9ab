import * as fc from "fast-check";
import { expect, test } from "vitest";
import { COMMANDED } from "../../../lib/contract/operations.ts";
import { toAccountsConfig } from "../../../lib/provider/accounts-config.ts";
import { createIntakeWorld, EVENT_SOURCE, eventOf, OWN } from "./intake-world.ts";

const TEAM = "111111111111";
const PROJECT = 1234567;

/** The team may update policies of one project only; our own AWS account has all rights. */
const RIGHTS = toAccountsConfig({
  accounts: [
    {
      name: "local",
      senders: ["own", { sender: TEAM, operations: ["update-policy"], projects: [PROJECT] }],
    },
    { name: "other", senders: ["own"] },
  ],
});

const REACTION = {
  name: "react",
  when: { source: ["team"] },
  account: "local",
  // biome-ignore lint/suspicious/noThenProperty: a field of the file
  then: {
    operation: "update-policy",
    params: { project_id: "$.detail.data.params.project_id", region_id: 76, policy_id: 1 },
    body: "$.detail.data.body",
  },
};

const anything = fc.anything({
  withNullPrototype: false,
  key: fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "operation", "params")),
});
const json = fc.oneof(
  fc.jsonValue(),
  anything.map((value) => JSON.parse(JSON.stringify(value) ?? "null")),
);

/** Mostly valid values, so that checks behind the first invalid one are reached. */
const mostly = <T>(valid: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 19, arbitrary: valid }, { weight: 1, arbitrary: json });
const seldom = <T>(part: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: part });

const data = fc.record(
  {
    operation: mostly(fc.constantFrom(...COMMANDED.map(({ id }) => id))),
    account: mostly(fc.constantFrom("local", "other", "unknown", OWN)),
    params: mostly(
      fc.record(
        {
          project_id: mostly(fc.constantFrom(PROJECT, 1186668)),
          region_id: mostly(fc.constant(76)),
          policy_id: mostly(fc.constant(1)),
          task_id: mostly(fc.string()),
        },
        { requiredKeys: ["project_id", "region_id", "policy_id"] },
      ),
    ),
    query: seldom(json),
    body: mostly(fc.record({ status: mostly(fc.constantFrom("paused", "active")) })),
    after: seldom(fc.array(fc.string())),
    guards: seldom(json),
    dryRun: seldom(json),
    deadline: seldom(json),
    taskId: seldom(json),
    sender: seldom(fc.constant(OWN)),
  },
  { requiredKeys: ["operation", "params", "body"] },
);

const detail = mostly(
  fc.record(
    {
      metadata: mostly(
        fc.record(
          {
            id: mostly(fc.string()),
            commandId: mostly(fc.string({ minLength: 1 })),
            correlationId: seldom(json),
            time: seldom(json),
            sender: fc.constant(OWN),
          },
          { requiredKeys: ["commandId"] },
        ),
      ),
      data: mostly(data),
    },
    { requiredKeys: ["metadata", "data"] },
  ),
);

const stamped = fc.record(
  {
    source: mostly(fc.constantFrom("team", EVENT_SOURCE)),
    id: mostly(fc.uuid()),
    time: mostly(fc.constant("2026-01-01T00:00:00Z")),
    detailType: mostly(fc.constantFrom("CommandRequested", "TaskFollowRequested", "InvoicePaid")),
    detail,
    isForReaction: fc.boolean(),
  },
  { requiredKeys: ["source", "id", "time", "detailType", "detail", "isForReaction"] },
);

test("any event of another AWS account ends as a command within its rights, a rejection or a counted ignore", async () => {
  let commands = 0;
  await fc.assert(
    fc.asyncProperty(stamped, async ({ detailType, isForReaction, detail: any, ...fields }) => {
      const calls: string[] = [];
      const world = await createIntakeWorld({
        rights: RIGHTS,
        accounts: { local: {}, other: {} },
        reactions: [REACTION],
        around: (call, effect) => {
          calls.push(call.name);
          return effect();
        },
      });
      const event = { ...eventOf(TEAM, "", any, fields), "detail-type": detailType };

      await (isForReaction ? world.putFor("react", event) : world.put(event));
      await world.deliver();

      const types = new Set(world.publishedTypes());
      const isCommand = types.has("CommandAccepted");
      const outcomes = [
        isCommand,
        types.has("CommandRejected") && !isCommand,
        world.counted.some((name) => name.startsWith("EventIgnored ")),
        // A rejection without any id would only be logged; every event has an id.
        world.log.lines.some(({ message }) => message.includes("without an event")),
      ];
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(outcomes[3]).toBe(false);
      expect(world.errors).toEqual([]);
      const requests = calls.filter((name) => name.startsWith("fetch "));
      const policies = `/cloud/v1/lifecycle_policy/${PROJECT}/`;
      expect(requests.filter((name) => !name.includes(policies))).toEqual([]);
      for (const { metadata } of world.bus.published()) expect(metadata.sender).toBe(TEAM);
      commands += isCommand ? 1 : 0;
    }),
    { numRuns: 400 },
  );

  // The generator must produce enough valid requests for the test to mean anything.
  expect(commands).toBeGreaterThan(10);
});

const envelope = fc.oneof(
  json,
  fc.record({ reaction: json, event: json }),
  fc.dictionary(fc.constantFrom("id", "account", "source", "detail-type", "time", "detail"), json),
);

test("intake answers any call with an event or a counted ignore", async () => {
  await fc.assert(
    fc.asyncProperty(envelope, async (call) => {
      const world = await createIntakeWorld({ rights: RIGHTS, accounts: { local: {}, other: {} } });

      await world.put(call);

      const ignored = world.counted.filter((name) => name.startsWith("EventIgnored "));
      expect(ignored.length + world.bus.published().length).toBe(1);
    }),
    { numRuns: 300 },
  );
});

const nested = (levels: number): unknown =>
  JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);

test.each([
  ["nested a hundred thousand levels deep", nested(100_000)],
  [
    "of a quarter of a megabyte",
    { metadata: { commandId: "c1" }, data: { operation: "x".repeat(250_000) } },
  ],
  [
    "with a deep body",
    {
      metadata: { commandId: "c1" },
      data: {
        operation: "update-policy",
        params: { project_id: PROJECT, region_id: 76, policy_id: 1 },
        body: { name: nested(50_000) },
      },
    },
  ],
])("a detail %s is rejected", async (_what, any) => {
  const world = await createIntakeWorld({
    rights: RIGHTS,
    accounts: { local: {}, other: {} },
    reactions: [REACTION],
  });

  await world.put(eventOf(TEAM, "CommandRequested", any));
  await world.put(eventOf(TEAM, "TaskFollowRequested", any, { id: "second" }));
  await world.putFor("react", eventOf(TEAM, "Any", any, { id: "third" }));

  expect(new Set(world.publishedTypes())).toEqual(new Set(["CommandRejected"]));
});
