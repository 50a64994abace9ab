import { describe, expect, test } from "vitest";
import { mistakesIn, oneRule } from "./read-file.ts";

const FOLLOW = "{ operation: follow-task, params: { task_id: t } }";
const NETWORK = "{ project_id: 1, region_id: 1, network_id: b39792c3-3160-4356-912e-ba396c95cdcf }";
const CONTAINER = "operation: update-container, params: $.detail.place";

/** `oneRule` has `when` in line 4, `then` in line 5, the rest in line 6. */
const refused = (cases: readonly (readonly [string, string, readonly string[]])[]) =>
  test.each(cases)("%s", (_what, text, mistakes) => {
    expect(mistakesIn(text)).toEqual(mistakes);
  });

describe("rejected in the request of a rule:", () => {
  refused([
    [
      "an unknown operation",
      oneRule("{ operation: reboot }"),
      [
        "5 reactions.0.then.operation: one of update-container, resume-instance, remove-policy-volumes, update-policy, update-pool, update-storage-event, create-router, create-storage-event, follow-task",
      ],
    ],
    [
      "a missing operation, together with other problems",
      oneRule("{ params: { task_id: $. } }"),
      [
        "5 reactions.0.then.operation: required",
        "5 reactions.0.then.params.task_id: must be a path such as $.detail.items[0]['odd key']; a literal string begins with $$. instead of $.",
      ],
    ],
    [
      "a missing or unknown field, also next to mapped fields",
      oneRule(
        "{ operation: resume-instance, params: { project_id: $.detail.p, region: $.detail.r, instance_id: i } }",
      ),
      [
        "5 reactions.0.then.params.region_id: required",
        "5 reactions.0.then.params.region: unknown field",
      ],
    ],
    [
      "an unknown field inside a list or an object",
      oneRule(
        `{ ${CONTAINER}, body: { scale: { min: 1, max: 2, mid: $.detail.m }, logging: { on: true } } }`,
      ),
      [
        "5 reactions.0.then.body.logging.on: unknown field",
        "5 reactions.0.then.body.scale.mid: unknown field",
      ],
    ],
    [
      "a constant that breaks the contract",
      oneRule(
        `{ ${CONTAINER}, body: { listening_port: 99999, timeout: soon, scale: { min: 3, max: 2 } } }`,
      ),
      [
        "5 reactions.0.then.body.listening_port: at most 65535",
        "5 reactions.0.then.body.scale.min: must not exceed max",
        "5 reactions.0.then.body.timeout: a number",
      ],
    ],
    [
      "constants that contradict each other",
      oneRule("{ operation: create-storage-event, body: { name: reaching_used_space, count: 5 } }"),
      ["5 reactions.0.then.body.count: not allowed with reaching_used_space; use bytes"],
    ],
    [
      "a query or body that the operation does not have",
      oneRule(
        "{ operation: follow-task, params: { task_id: t }, query: { all: $.detail.all }, body: $.detail.body }",
      ),
      [
        "5 reactions.0.then.query.all: unknown field",
        "5 reactions.0.then.body: this operation takes no body",
      ],
    ],
    [
      "a part that is neither an object nor a path",
      oneRule("{ operation: follow-task, params: [t], query: $$.detail }"),
      [
        "5 reactions.0.then.params: must be an object, or a path into the event such as $.detail.body",
        "5 reactions.0.then.query: must be an object, or a path into the event such as $.detail.body",
      ],
    ],
    [
      "an invalid path, and a path that does not begin with a field of events",
      oneRule(
        "{ operation: resume-instance, params: { project_id: $.project, region_id: $.detail..region, instance_id: i } }",
      ),
      [
        "5 reactions.0.then.params.project_id: must begin with a field of an event: $.account, $.detail, $.detail-type, $.id, $.region, $.replay-name, $.resources, $.source, $.time, $.version",
        "5 reactions.0.then.params.region_id: must be a path such as $.detail.items[0]['odd key']; a literal string begins with $$. instead of $.",
      ],
    ],
    [
      "a variable named __proto__",
      oneRule(`{ ${CONTAINER}, body: { envs: { __proto__: x } } }`),
      [
        "5 reactions.0.then.body.envs.__proto__: no variable may have this name",
        "5 reactions.0.then.body.envs.__proto__: must not contain a secret: use a path into the event",
      ],
    ],
    [
      "literal secrets",
      oneRule(
        `{ ${CONTAINER}, body: { envs: { TOKEN: hush, MODE: $.detail.mode }, pull_secret: p } }`,
      ),
      [
        "5 reactions.0.then.body.envs.TOKEN: must not contain a secret: use a path into the event",
        "5 reactions.0.then.body.pull_secret: must not contain a secret: use a path into the event",
      ],
    ],
    [
      "only the other problem next to a null secret, which keeps the stored one",
      oneRule(`{ ${CONTAINER}, body: { pull_secret: null, timeout: 181 } }`),
      ["5 reactions.0.then.body.timeout: at most 180"],
    ],
    [
      "a name that is too long for its lane",
      oneRule(
        `{ operation: update-container, params: { project_id: 1, region_id: 1, container_name: ${"a".repeat(601)} }, body: {} }`,
      ),
      ["5 reactions.0.then.params.container_name: at most 600 characters when URL-encoded"],
    ],
    [
      "a request larger than a command",
      oneRule(`{ ${CONTAINER}, body: { commands: ${"a".repeat(253_000)} } }`),
      ["5 reactions.0.then: must be at most 256000 bytes of JSON"],
    ],
    [
      "a value with too many levels",
      oneRule(`{ ${CONTAINER}, body: { commands: ${"[".repeat(40)}${"]".repeat(40)} } }`),
      [`5 reactions.0.then.body.commands${".0".repeat(31)}: nested deeper than 32 levels`],
    ],
    [
      "a number that JSON does not have",
      oneRule(`{ ${CONTAINER}, body: { timeout: .inf } }`),
      ["5 reactions.0.then.body.timeout: must be a finite number"],
    ],
  ]);
});

describe("rejected in the pattern of a rule:", () => {
  const OWN_SOURCE =
    "could match Skyhook's own events; list other sources by name, or use source: [skyhook] alone with a list of detail-types";
  const LOOPS =
    "not allowed: this event follows from commands, so the reaction would run endlessly; use `after` to run commands one after another";
  refused([
    ["no pattern", oneRule(FOLLOW, "~"), ["4 reactions.0.when: must be an object"]],
    [
      "a pattern without a source",
      oneRule(FOLLOW, "{ detail-type: [InvoicePaid] }"),
      [
        "4 reactions.0.when.source: required: without it the rule would match Skyhook's own events too",
      ],
    ],
    [
      "a source in some alternatives only",
      oneRule(FOLLOW, "{ $or: [{ source: [a] }, { source: [b] }] }"),
      [
        "4 reactions.0.when.source: required: without it the rule would match Skyhook's own events too",
      ],
    ],
    [
      "an AWS account id without quotes",
      oneRule(FOLLOW, "{ source: [billing], account: [111122223333] }"),
      [
        "4 reactions.0.when.account.0: must be a string in quotes: in events this field is always a string",
      ],
    ],
    ...[
      "[skyhook, billing]",
      "[{ prefix: sky }]",
      "[{ anything-but: billing }]",
      "[{ exists: true }]",
    ].map(
      (source) =>
        [
          `the source ${source}`,
          oneRule(FOLLOW, `{ source: ${source}, detail-type: [PriceChanged] }`),
          [`4 reactions.0.when.source: ${OWN_SOURCE}`],
        ] as const,
    ),
    [
      "Skyhook's own source without detail-types",
      oneRule(FOLLOW, "{ source: [skyhook] }"),
      [
        "4 reactions.0.when.detail-type: required for Skyhook's own events: list each detail-type by name",
      ],
    ],
    [
      "Skyhook's own source with detail-types of commands, or not exact ones",
      oneRule(
        FOLLOW,
        "{ source: [skyhook], detail-type: [PriceChanged, CommandSucceeded, TaskFinished, AccountKeyRefused, { prefix: Prices }] }",
      ),
      [
        `4 reactions.0.when.detail-type.1: ${LOOPS}`,
        `4 reactions.0.when.detail-type.2: ${LOOPS}`,
        `4 reactions.0.when.detail-type.3: ${LOOPS}`,
        "4 reactions.0.when.detail-type.4: must be the exact name of one of Skyhook's own events",
      ],
    ],
    [
      "Skyhook's own source with an account or alternatives",
      oneRule(
        FOLLOW,
        '{ source: [skyhook], detail-type: [PriceChanged], account: ["111122223333"], $or: [{ region: [a] }, { region: [b] }] }',
      ),
      [
        "4 reactions.0.when.account: not allowed with Skyhook's own events, which come from its own AWS account only",
        "4 reactions.0.when.$or: not allowed with Skyhook's own events, which come from its own AWS account only",
      ],
    ],
  ]);

  test("everything that EventBridge would refuse", () => {
    const text = oneRule(FOLLOW, "{ source: billing, detail: { a: [], b: [{ prefx: x }] } }");

    const places = mistakesIn(text).map((mistake) => mistake.split(": ")[0]);

    expect(places).toEqual([
      "4 reactions.0.when.source",
      "4 reactions.0.when.detail.a",
      "4 reactions.0.when.detail.b.0.prefx",
    ]);
  });

  test("nothing in a pattern of Skyhook's own events that follow from no command", () => {
    const when =
      "{ source: [skyhook], detail-type: [PriceChanged, AiTaskEnded], detail: { a: [1] } }";

    expect(mistakesIn(oneRule(FOLLOW, when))).toEqual([]);
  });
});

describe("rejected in the other fields of a rule:", () => {
  refused([
    [
      "events of AWS services on Skyhook's bus without an AWS account",
      oneRule(FOLLOW, "{ source: [aws.s3] }"),
      [
        "4 reactions.0.when.source: AWS services put their events on the default bus: add `bus: default`, or list in `account` the AWS accounts that forward theirs",
      ],
    ],
    [
      "nothing about events of AWS services that another AWS account forwards",
      oneRule(FOLLOW, '{ source: [aws.s3], account: ["111122223333"] }'),
      [],
    ],
    [
      "Skyhook's own events on the default bus",
      oneRule(FOLLOW, "{ source: [skyhook], detail-type: [AiTaskEnded] }", "bus: default"),
      ["4 reactions.0.when.source: Skyhook's own events are not on the default bus: remove `bus`"],
    ],
    [
      "a bus other than the default one",
      oneRule(FOLLOW, undefined, "bus: mine"),
      ["6 reactions.0.bus: must be default, or left out for Skyhook's bus"],
    ],
    [
      "an invalid deadline, or one that is too long",
      `${oneRule(FOLLOW, undefined, "deadline: soon")}${oneRule(FOLLOW, undefined, "deadline: 8d").replace("reactions:\n", "").replace("name: rule", "name: other")}`,
      [
        "6 reactions.0.deadline: must be a time span such as 90s, 30m, 2h or 7d",
        "11 reactions.1.deadline: at most 7d",
      ],
    ],
    [
      "an invalid guard",
      oneRule(FOLLOW, undefined, `guards: [5, { network: ${NETWORK}, key: k }]`),
      [
        "6 reactions.0.guards.0: must be an object",
        "6 reactions.0.guards.1: exactly one of equals, not, exists, absent",
      ],
    ],
    [
      "a guard that no event can make valid",
      oneRule(
        FOLLOW,
        undefined,
        "guards: [{ network: $.detail.n, floating_ip: $.detail.f, key: $.detail.k, equals: 5 }, { network: { id: $.detail.n }, key: $., equals: x }]",
      ),
      [
        "6 reactions.0.guards.0.equals: a string",
        "6 reactions.0.guards.1.key: must be a path such as $.detail.items[0]['odd key']; a literal string begins with $$. instead of $.",
        "6 reactions.0.guards.1.network.project_id: required",
        "6 reactions.0.guards.1.network.region_id: required",
        "6 reactions.0.guards.1.network.network_id: required",
        "6 reactions.0.guards.1.network.id: unknown field",
      ],
    ],
    [
      "two resources, even if both are mapped",
      oneRule(
        FOLLOW,
        undefined,
        "guards: [{ network: $.detail.n, floating_ip: $.detail.f, key: k, exists: true }]",
      ),
      ["6 reactions.0.guards.0: exactly one of floating_ip, network"],
    ],
    [
      "an invalid name, a duplicate name, an unknown account and an unknown field",
      `reactions:
  - name: a b
    account: main
    when: { source: [x] }
    then: ${FOLLOW}
  - name: same
    account: mian
    when: { source: [x] }
    then: ${FOLLOW}
  - name: same
    account: main
    when: { source: [x] }
    than: ${FOLLOW}
`,
      [
        "2 reactions.0.name: must be 1 to 64 letters, digits, dots, underscores or hyphens, and begin with a letter or digit",
        "7 reactions.1.account: unknown account, must be one of: main, narrow, placed",
        "10 reactions.2.then: required",
        "10 reactions.2.name: duplicate of reactions.1.name",
        "13 reactions.2.than: unknown field",
      ],
    ],
    ["a list instead of a file", "- a\n", ["1 : an object"]],
    ["no list of rules", "rules: []\n", ["1 reactions: required", "1 rules: unknown field"]],
  ]);
});

describe("rejected because of the limits of the account:", () => {
  const of = (account: string, then: string, rest = ""): string =>
    oneRule(then, undefined, rest).replace("account: main", `account: ${account}`);
  const resume = (project: string): string =>
    `{ operation: resume-instance, params: { project_id: ${project}, region_id: 1, instance_id: i } }`;
  const EVENT = "{ operation: update-storage-event, body: { name: reaching_used_space } }";

  refused([
    ["nothing within the limits", of("narrow", resume("7")), []],
    ["nothing that only the event determines", of("narrow", resume("$.detail.project")), []],
    [
      "another operation",
      of("narrow", FOLLOW),
      ["5 reactions.0.then.operation: not in the account's `operations`"],
    ],
    [
      "another project",
      of("narrow", resume("8")),
      ["5 reactions.0.then.params.project_id: not in the account's `projects`"],
    ],
    [
      "another project in a guard",
      of("narrow", resume("7"), `guards: [{ network: ${NETWORK}, key: k, exists: true }]`),
      ["6 reactions.0.guards.0.network.project_id: not in the account's `projects`"],
    ],
    ["nothing about a listed operation without a project", of("narrow", EVENT), []],
    [
      "an unlisted operation without a project if the account has a list of projects",
      of("placed", EVENT),
      [
        "5 reactions.0.then.operation: this operation has no project, but the account limits projects: list the operation in the account's `operations`",
      ],
    ],
  ]);
});
