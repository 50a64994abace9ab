import { describe, expect, test } from "vitest";
import { commandOf } from "../../../lib/intake/reaction.ts";
import type { JsonObject } from "../../../lib/platform/ports/ledger.ts";
import { eventWith, mistakesIn, oneRule, reactionOf } from "./read-file.ts";

const ID = "17793124-05d4-b198-2fde-7ededc63b103";
const FOLLOW = "{ operation: follow-task, params: { task_id: $.detail.task } }";

const react = (text: string, event: JsonObject) => commandOf(reactionOf(text), event);

describe("an event makes a command", () => {
  test("with the constants of the rule and the values of the event", () => {
    const text = `reactions:
  - name: resume-paid-instance
    when: { source: [billing] }
    account: main
    then:
      operation: resume-instance
      params: { project_id: $.detail.project, region_id: 76, instance_id: "$.detail['instance ids'][1]" }
      query: { with_ddos: $.detail.ddos }
    guards:
      - network: { project_id: $.detail.project, region_id: 76, network_id: b39792c3-3160-4356-912e-ba396c95cdcf }
        key: billing
        equals: $.detail.state
    deadline: 30m
`;
    const event = eventWith({
      time: "2026-01-31T12:00:00Z",
      detail: {
        metadata: { correlationId: "order-5" },
        project: 7,
        "instance ids": ["a", "b"],
        ddos: true,
        state: "paid",
      },
    });

    const outcome = react(text, event);

    expect(outcome).toEqual({
      kind: "command",
      detail: {
        metadata: {
          id: ID,
          commandId: `${ID}:resume-paid-instance`,
          correlationId: "order-5",
          time: "2026-01-31T12:00:00Z",
        },
        data: {
          operation: "resume-instance",
          account: "main",
          params: { project_id: 7, region_id: 76, instance_id: "b" },
          query: { with_ddos: true },
          guards: [
            {
              network: {
                project_id: 7,
                region_id: 76,
                network_id: "b39792c3-3160-4356-912e-ba396c95cdcf",
              },
              key: "billing",
              equals: "paid",
            },
          ],
          deadline: "2026-01-31T12:30:00.000Z",
        },
      },
    });
  });

  test("without the parts that the rule leaves out", () => {
    const outcome = react(oneRule(FOLLOW), eventWith({ detail: { task: "t" } }));

    expect(outcome).toEqual({
      kind: "command",
      detail: {
        metadata: {
          id: ID,
          commandId: `${ID}:rule`,
          correlationId: ID,
          time: "2026-01-31T12:00:00Z",
        },
        data: { operation: "follow-task", account: "main", params: { task_id: "t" } },
      },
    });
  });

  test.each([
    ["$.detail.a", { x: [1, null] }],
    ["$$.detail.a", "$.detail.a"],
    ["$$$.detail.a", "$$$.detail.a"],
    ["$$", "$$"],
    ["$", "$"],
    ["$5 a month", "$5 a month"],
    ["see $.detail.a", "see $.detail.a"],
  ])("in which %s becomes %j", (written, expected) => {
    const then = `{ operation: update-container, params: $.detail.p, body: { description: "${written}" } }`;

    const outcome = react(oneRule(then), eventWith({ detail: { a: { x: [1, null] }, p: {} } }));

    expect(outcome).toMatchObject({ detail: { data: { body: { description: expected } } } });
  });

  test.each([
    ["a string", "c", "c"],
    ["256 characters", "c".repeat(256), "c".repeat(256)],
    ["257 characters", "c".repeat(257), ID],
    ["an empty string", "", ID],
    ["a number", 5, ID],
  ])(
    "with the correlation id of the event if it is a string of 1 to 256 characters: %s",
    (_, given, expected) => {
      const detail = { task: "t", metadata: { correlationId: given } };

      const outcome = react(oneRule(FOLLOW), eventWith({ detail }));

      expect(outcome).toMatchObject({ detail: { metadata: { correlationId: expected } } });
    },
  );

  test("with the longest event id and the longest name of a rule in its id", () => {
    const text = oneRule(FOLLOW).replace("name: rule", `name: ${"r".repeat(64)}`);
    const event = eventWith({ id: "e".repeat(63), detail: { task: "t" } });

    const outcome = react(text, event);

    expect(outcome).toMatchObject({
      detail: { metadata: { commandId: `${"e".repeat(63)}:${"r".repeat(64)}` } },
    });
  });
});

describe("an event that lacks values makes no command", () => {
  const missing = (path: string) => ({ path, rule: "not in the event" });

  test("and every missing path is reported once", () => {
    const then =
      '{ operation: resume-instance, params: { project_id: $.detail.project, region_id: "$.detail.regions[0]", instance_id: $.detail.instance.id } }';
    const rest =
      "guards: [{ network: { project_id: $.detail.project, region_id: 1, network_id: \"$.detail['net work']\" }, key: k, exists: true }]";

    const outcome = react(
      oneRule(then, undefined, rest),
      eventWith({ detail: { instance: "i", regions: [] } }),
    );

    expect(outcome).toEqual({
      kind: "incomplete",
      problems: [
        missing("$.detail.project"),
        missing("$.detail.regions[0]"),
        missing("$.detail.instance.id"),
        missing("$.detail['net work']"),
      ],
    });
  });

  test.each([
    ["no envelope", {}, [missing("$.id"), missing("$.time"), missing("$.detail.task")]],
    [
      "an id and a time of other types",
      { id: 5, time: 5, detail: { task: "t" } },
      [
        { path: "$.id", rule: "a string" },
        { path: "$.time", rule: "a string" },
      ],
    ],
    [
      "an id that is too long and an invalid time",
      { id: "e".repeat(64), time: "yesterday", detail: { task: "t" } },
      [
        { path: "$.id", rule: "at most 63 characters" },
        { path: "$.time", rule: "a time such as 2026-01-31T12:00:00Z" },
      ],
    ],
    [
      "a time too late for a deadline",
      { id: "e", time: "9999-12-31T23:59:59Z", detail: { task: "t" } },
      [{ path: "$.time", rule: "must have a year from 1 to 9998" }],
    ],
  ])("%s", (_what, event, problems) => {
    expect(react(oneRule(FOLLOW), event)).toEqual({ kind: "incomplete", problems });
  });
});

describe("a reaction with a key", () => {
  const keyed = oneRule(FOLLOW, undefined, "key: $.detail.invoice");
  const idOfEvent = (fields: object) => {
    const outcome = react(keyed, eventWith(fields));
    return outcome.kind === "command" ? outcome.detail.metadata.commandId : outcome.problems;
  };

  test("makes the same command of a copy of the event with another id", () => {
    const detail = { task: "t", invoice: "inv-7" };

    expect(idOfEvent({ detail })).toBe("inv-7:rule");
    expect(idOfEvent({ detail, id: "another" })).toBe("inv-7:rule");
    expect(idOfEvent({ detail: { ...detail, invoice: "inv-8" } })).toBe("inv-8:rule");
  });

  test("accepts whole numbers", () => {
    expect(idOfEvent({ detail: { task: "t", invoice: 7 } })).toBe("7:rule");
  });

  test.each([
    ["missing", undefined, "not in the event"],
    ["empty", "", "must be a string of 1 to 63 characters, or a whole number"],
    [
      "longer than 63 characters",
      "i".repeat(64),
      "must be a string of 1 to 63 characters, or a whole number",
    ],
    ["a fraction", 1.5, "must be a string of 1 to 63 characters, or a whole number"],
    ["an object", {}, "must be a string of 1 to 63 characters, or a whole number"],
  ])("makes no command if the key is %s", (_what, invoice, rule) => {
    expect(idOfEvent({ detail: { task: "t", invoice } })).toEqual([
      { path: "$.detail.invoice", rule },
    ]);
  });

  test.each([
    ["inv-7", "must be a path into the event, such as $.detail.order.id"],
    ["$.detial.invoice", "must begin with a field of an event: $.account"],
    ["$.detail..invoice", "must be a path such as $.detail.items[0]"],
  ])("is rejected with its line if the key is %s", (key, rule) => {
    const mistakes = mistakesIn(oneRule(FOLLOW, undefined, `key: ${key}`));

    expect(mistakes).toEqual([expect.stringMatching(/^6 reactions\.0\.key: /)]);
    expect(mistakes[0]).toContain(rule);
  });
});
