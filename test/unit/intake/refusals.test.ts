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

describe("of a rule's request is refused", () => {
  refused([
    [
      "an unknown operation",
      oneRule("{ operation: reboot }"),
      [
        "5 reactions.0.then.operation: one of update-container, resume-instance, remove-policy-volumes, update-policy, update-pool, update-storage-event, create-router, create-storage-event, follow-task",
      ],
    ],
    [
      "no operation, and beside it what is wrong by itself",
      oneRule("{ params: { task_id: $. } }"),
      [
        "5 reactions.0.then.operation: required",
        "5 reactions.0.then.params.task_id: a path such as $.detail.items[0]['odd key'], or a text that begins with $$. for $.",
      ],
    ],
    [
      "a field that is missing or unknown, even beside mapped ones",
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
      "constants that do not fit each other",
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
        "5 reactions.0.then.params: an object, or a path into the event such as $.detail.body",
        "5 reactions.0.then.query: an object, or a path into the event such as $.detail.body",
      ],
    ],
    [
      "a path that cannot be read, and one that no event has",
      oneRule(
        "{ operation: resume-instance, params: { project_id: $.project, region_id: $.detail..region, instance_id: i } }",
      ),
      [
        "5 reactions.0.then.params.project_id: an event has only $.account, $.detail, $.detail-type, $.id, $.region, $.replay-name, $.resources, $.source, $.time, $.version",
        "5 reactions.0.then.params.region_id: a path such as $.detail.items[0]['odd key'], or a text that begins with $$. for $.",
      ],
    ],
    [
      "a variable named __proto__",
      oneRule(`{ ${CONTAINER}, body: { envs: { __proto__: x } } }`),
      [
        "5 reactions.0.then.body.envs.__proto__: no variable may have this name",
        "5 reactions.0.then.body.envs.__proto__: a secret: map it from the event",
      ],
    ],
    [
      "secrets, which only an event may carry",
      oneRule(
        `{ ${CONTAINER}, body: { envs: { TOKEN: hush, MODE: $.detail.mode }, pull_secret: p } }`,
      ),
      [
        "5 reactions.0.then.body.envs.TOKEN: a secret: map it from the event",
        "5 reactions.0.then.body.pull_secret: a secret: map it from the event",
      ],
    ],
    [
      "null for a secret, which keeps what is there, beside another mistake",
      oneRule(`{ ${CONTAINER}, body: { pull_secret: null, timeout: 181 } }`),
      ["5 reactions.0.then.body.timeout: at most 180"],
    ],
    [
      "a name too long for the lane of its resource",
      oneRule(
        `{ operation: update-container, params: { project_id: 1, region_id: 1, container_name: ${"a".repeat(601)} }, body: {} }`,
      ),
      ["5 reactions.0.then.params.container_name: at most 600 characters when URL-encoded"],
    ],
    [
      "more than a command can hold",
      oneRule(`{ ${CONTAINER}, body: { commands: ${"a".repeat(253_000)} } }`),
      ["5 reactions.0.then: must be at most 256000 bytes of JSON"],
    ],
    [
      "what is nested too deeply",
      oneRule(`{ ${CONTAINER}, body: { commands: ${"[".repeat(40)}${"]".repeat(40)} } }`),
      [`5 reactions.0.then.body.commands${".0".repeat(31)}: nested deeper than 32 levels`],
    ],
    [
      "a number that JSON does not have",
      oneRule(`{ ${CONTAINER}, body: { timeout: .inf } }`),
      ["5 reactions.0.then.body.timeout: a number that JSON has"],
    ],
  ]);
});

describe("of a rule's pattern is refused", () => {
  const OWN_SOURCE =
    "could match Skyhook's own events; those only as source: [skyhook], with a list of detail-types";
  const LOOPS =
    "follows from commands, so the command would call itself again for ever; to run one after another, commands have `after`";
  refused([
    ["none", oneRule(FOLLOW, "~"), ["4 reactions.0.when: an object"]],
    [
      "one without a source",
      oneRule(FOLLOW, "{ detail-type: [InvoicePaid] }"),
      ["4 reactions.0.when.source: required, or the rule would match Skyhook's own events too"],
    ],
    [
      "a source in some alternatives only",
      oneRule(FOLLOW, "{ $or: [{ source: [a] }, { source: [b] }] }"),
      ["4 reactions.0.when.source: required, or the rule would match Skyhook's own events too"],
    ],
    [
      "an account id without its quotes",
      oneRule(FOLLOW, "{ source: [billing], account: [111122223333] }"),
      ["4 reactions.0.when.account.0: a text in quotes: there EventBridge has text only"],
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
      ["4 reactions.0.when.detail-type: required: of Skyhook's own events, each is listed by name"],
    ],
    [
      "Skyhook's own source with detail-types that commands cause, or that are not exact",
      oneRule(
        FOLLOW,
        "{ source: [skyhook], detail-type: [PriceChanged, CommandSucceeded, TaskFinished, AccountKeyRefused, { prefix: Prices }] }",
      ),
      [
        `4 reactions.0.when.detail-type.1: ${LOOPS}`,
        `4 reactions.0.when.detail-type.2: ${LOOPS}`,
        `4 reactions.0.when.detail-type.3: ${LOOPS}`,
        "4 reactions.0.when.detail-type.4: of Skyhook's own events, the exact name",
      ],
    ],
    [
      "Skyhook's own source with an account or alternatives",
      oneRule(
        FOLLOW,
        '{ source: [skyhook], detail-type: [PriceChanged], account: ["111122223333"], $or: [{ region: [a] }, { region: [b] }] }',
      ),
      [
        "4 reactions.0.when.account: not with Skyhook's own events: they are taken from its own AWS account only",
        "4 reactions.0.when.$or: not with Skyhook's own events: they are taken from its own AWS account only",
      ],
    ],
  ]);

  test("every flaw that EventBridge would refuse", () => {
    const text = oneRule(FOLLOW, "{ source: billing, detail: { a: [], b: [{ prefx: x }] } }");

    const places = mistakesIn(text).map((mistake) => mistake.split(": ")[0]);

    expect(places).toEqual([
      "4 reactions.0.when.source",
      "4 reactions.0.when.detail.a",
      "4 reactions.0.when.detail.b.0.prefx",
    ]);
  });

  test("nothing of Skyhook's own events that no command causes", () => {
    const when =
      "{ source: [skyhook], detail-type: [PriceChanged, AiTaskEnded], detail: { a: [1] } }";

    expect(mistakesIn(oneRule(FOLLOW, when))).toEqual([]);
  });
});

describe("of a rule's other fields is refused", () => {
  refused([
    [
      "events of AWS services on Skyhook's bus, unless it says whose",
      oneRule(FOLLOW, "{ source: [aws.s3] }"),
      [
        "4 reactions.0.when.source: AWS services put their events on the default bus: say `bus: default`, or name in `account` the AWS accounts that send theirs on",
      ],
    ],
    [
      "nothing of AWS services that another AWS account sends on",
      oneRule(FOLLOW, '{ source: [aws.s3], account: ["111122223333"] }'),
      [],
    ],
    [
      "Skyhook's own events on the default bus",
      oneRule(FOLLOW, "{ source: [skyhook], detail-type: [AiTaskEnded] }", "bus: default"),
      [
        "4 reactions.0.when.source: Skyhook's own events are on its own bus, not on the default one",
      ],
    ],
    [
      "a bus other than the default one",
      oneRule(FOLLOW, undefined, "bus: mine"),
      ["6 reactions.0.bus: default, or left out for Skyhook's own bus"],
    ],
    [
      "a deadline that is no time span, or too late",
      `${oneRule(FOLLOW, undefined, "deadline: soon")}${oneRule(FOLLOW, undefined, "deadline: 8d").replace("reactions:\n", "").replace("name: rule", "name: other")}`,
      [
        "6 reactions.0.deadline: a time span such as 90s, 30m, 2h or 7d",
        "11 reactions.1.deadline: at most 7d",
      ],
    ],
    [
      "a guard that is none",
      oneRule(FOLLOW, undefined, `guards: [5, { network: ${NETWORK}, key: k }]`),
      [
        "6 reactions.0.guards.0: an object",
        "6 reactions.0.guards.1: exactly one of equals, not, exists, absent",
      ],
    ],
    [
      "a guard that no event could make right",
      oneRule(
        FOLLOW,
        undefined,
        "guards: [{ network: $.detail.n, floating_ip: $.detail.f, key: $.detail.k, equals: 5 }, { network: { id: $.detail.n }, key: $., equals: x }]",
      ),
      [
        "6 reactions.0.guards.0.equals: a string",
        "6 reactions.0.guards.1.key: a path such as $.detail.items[0]['odd key'], or a text that begins with $$. for $.",
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
      "a name that is none, a name that is taken, an unknown account and an unknown field",
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
        "2 reactions.0.name: 1 to 64 letters, digits, dots, underscores or hyphens, a letter or digit first",
        "7 reactions.1.account: no such account; there are: main, narrow, placed",
        "10 reactions.2.then: required",
        "10 reactions.2.name: the same as reactions.1",
        "13 reactions.2.than: unknown field",
      ],
    ],
    ["a list instead of a file", "- a\n", ["1 : an object"]],
    ["no list of rules", "rules: []\n", ["1 reactions: required", "1 rules: unknown field"]],
  ]);
});

describe("what its account does not allow is refused:", () => {
  const of = (account: string, then: string, rest = ""): string =>
    oneRule(then, undefined, rest).replace("account: main", `account: ${account}`);
  const resume = (project: string): string =>
    `{ operation: resume-instance, params: { project_id: ${project}, region_id: 1, instance_id: i } }`;
  const EVENT = "{ operation: update-storage-event, body: { name: reaching_used_space } }";

  refused([
    ["nothing within its limits", of("narrow", resume("7")), []],
    ["nothing that is not known yet", of("narrow", resume("$.detail.project")), []],
    [
      "another operation",
      of("narrow", FOLLOW),
      ["5 reactions.0.then.operation: the account does not allow it"],
    ],
    [
      "another project",
      of("narrow", resume("8")),
      ["5 reactions.0.then.params.project_id: the account does not allow this project"],
    ],
    [
      "another project in a guard",
      of("narrow", resume("7"), `guards: [{ network: ${NETWORK}, key: k, exists: true }]`),
      ["6 reactions.0.guards.0.network.project_id: the account does not allow this project"],
    ],
    ["nothing about an operation without project that it lists", of("narrow", EVENT), []],
    [
      "an operation without project that it does not list, when its projects are limited",
      of("placed", EVENT),
      [
        "5 reactions.0.then.operation: the account allows only some projects, and this reaches beyond them: it has to be listed among the account's operations",
      ],
    ],
  ]);
});
