import { describe, expect, test } from "vitest";
import { readReactions } from "../../../lib/intake/config-files.ts";
import { commandOf } from "../../../lib/intake/reaction.ts";
import { CONTEXT, eventWith, mistakesIn, oneRule, reactionOf, reactionsOf } from "./read-file.ts";

const YAML = `
$schema: reactions.schema.json
reactions:
  - name: resume-paid-instance
    when:
      source: [billing]
      detail-type: [InvoicePaid]
    bus: default
    account: main
    then:
      operation: resume-instance
      params: { project_id: $.detail.project, region_id: 76, instance_id: $.detail.instance.id }
      query: { with_ddos: true }
    guards:
      - network: { project_id: $.detail.project, region_id: 76, network_id: b39792c3-3160-4356-912e-ba396c95cdcf }
        key: billing
        equals: paid
    deadline: 30m
  - name: follow
    when: { source: [ci] }
    account: main
    then: { operation: follow-task, params: { task_id: "$.detail['task id']" } }
`;

describe("a reactions file", () => {
  test("is read from YAML and from JSON", () => {
    const [resume, follow] = reactionsOf(YAML);
    const fromJson = reactionOf(`{ "reactions": [ {
      "name": "follow",
      "when": { "source": ["ci"] },
      "account": "main",
      "then": { "operation": "follow-task", "params": { "task_id": "$.detail['task id']" } }
    } ] }`);

    expect(resume).toMatchObject({
      name: "resume-paid-instance",
      when: { source: { source: ["billing"], "detail-type": ["InvoicePaid"] } },
      bus: "default",
      account: "main",
      operation: { id: "resume-instance" },
      deadlineMs: 1_800_000,
    });
    expect(follow).toMatchObject({ bus: undefined, query: undefined, guards: undefined });
    expect(JSON.stringify(fromJson)).toEqual(JSON.stringify(follow));
  });

  test("may have no rules", () => {
    expect(reactionsOf("reactions: []")).toEqual([]);
  });

  test("keeps integers that JSON cannot hold exactly as decimal strings", () => {
    const text = oneRule(
      "{ operation: create-storage-event, body: { name: reaching_used_space, bytes: 18446744073709551615 } }",
    );

    const outcome = commandOf(reactionOf(text), eventWith());

    expect(outcome).toMatchObject({
      detail: { data: { body: { name: "reaching_used_space", bytes: "18446744073709551615" } } },
    });
  });

  test("may leave out the account only if the accounts file has one", () => {
    const text = oneRule("{ operation: follow-task, params: { task_id: t } }").replace(
      "    account: main\n",
      "",
    );
    const [main, narrow] = CONTEXT.accounts.accounts;
    const only = (account: typeof main) => ({
      ...CONTEXT,
      accounts: { ...CONTEXT.accounts, accounts: account ? [account] : [] },
    });

    const read = readReactions(text, only(main));
    const unknown = readReactions(text, { ...CONTEXT, accounts: undefined });

    expect(read).toMatchObject({ kind: "valid", value: [{ account: "main" }] });
    expect(unknown).toMatchObject({ kind: "valid", value: [{ account: undefined }] });
    expect(mistakesIn(text)).toEqual([
      "2 reactions.0.account: required, one of: main, narrow, placed",
    ]);
    expect(mistakesIn(text, only(narrow))).toEqual([
      "4 reactions.0.then.operation: not in the account's `operations`",
    ]);
  });

  test("is read without an accounts file, without checks of accounts", () => {
    const text = `reactions:
  - name: a
    account: unknown
    when: { source: [x] }
    then: { operation: follow-task, params: { task_id: t } }
`;

    expect(mistakesIn(text, { ...CONTEXT, accounts: undefined })).toEqual([]);
    expect(mistakesIn(text)).toEqual([
      "3 reactions.0.account: unknown account, must be one of: main, narrow, placed",
    ]);
  });
});

describe("a mapped value", () => {
  test.each([
    ["one field", "params: { task_id: $.detail.id }"],
    ["a whole part", "params: $.detail"],
  ])("may replace %s", (_what, params) => {
    const rule = reactionOf(oneRule(`{ operation: follow-task, ${params} }`));

    const outcome = commandOf(rule, eventWith({ detail: { task_id: "t", id: "t" } }));

    expect(outcome).toMatchObject({
      kind: "command",
      detail: { data: { params: { task_id: "t" } } },
    });
  });

  test.each([
    [
      "params",
      "{ operation: resume-instance, params: { project_id: $.detail.a, region_id: $.detail.b, instance_id: $.detail.c } }",
    ],
    [
      "an optional field",
      "{ operation: update-policy, params: { project_id: 1, region_id: 1, policy_id: 1 }, body: { status: $.detail.status } }",
    ],
    [
      "an element of a list",
      "{ operation: remove-policy-volumes, params: $.detail.policy, body: { volume_ids: [$.detail.volume, other] } }",
    ],
    [
      "one of two fields with a rule between them",
      "{ operation: update-container, params: $.detail.p, body: { scale: { min: 3, max: $.detail.max } } }",
    ],
    [
      "a field on which rules of other fields depend",
      "{ operation: create-storage-event, body: { name: $.detail.name, count: 5 } }",
    ],
    [
      "the limit of a named event",
      "{ operation: create-storage-event, body: { name: reaching_used_space, bytes: $.detail.bytes } }",
    ],
    [
      "a field that another field requires",
      "{ operation: create-router, params: $.detail.p, body: { name: new_router, external_gateway_info: { type: manual, network_id: $.detail.n } } }",
    ],
    [
      "a variable",
      "{ operation: update-container, params: $.detail.p, body: { envs: { MODE: $.detail.mode } } }",
    ],
  ])("is accepted for %s", (_what, then) => {
    expect(mistakesIn(oneRule(then))).toEqual([]);
  });

  test.each([
    [
      "the value of its test",
      "{ network: { project_id: 1, region_id: 1, network_id: b39792c3-3160-4356-912e-ba396c95cdcf }, key: k, equals: $.detail.v }",
    ],
    ["its whole resource", "{ network: $.detail.n, key: $.detail.k, not: $.detail.v }"],
    [
      "parts of its resource",
      "{ floating_ip: { project_id: $.detail.p, region_id: $.detail.r, floating_ip_id: $.detail.i }, key: k, absent: $.detail.v }",
    ],
  ])("is accepted in a guard for %s", (_what, guard) => {
    const follow = "{ operation: follow-task, params: { task_id: t } }";

    expect(mistakesIn(oneRule(follow, undefined, `guards: [${guard}]`))).toEqual([]);
  });
});
