import { describe, expect, test } from "vitest";
import { readAccountsFile, readDeployedAccounts } from "../../../lib/provider/accounts-file.ts";

/** `line: path: rule` of every problem. */
const problemsIn = (text: string, readFile = readAccountsFile): readonly string[] => {
  const read = readFile(text);
  return read.kind === "valid"
    ? []
    : read.problems.map(({ line, path, rule }) => `${line}: ${path}: ${rule}`);
};

const SMALL = "accounts: [{ name: acme, senders: [own] }]";
const QUOTED = 'an AWS account id in quotes, such as "111122223333"';
const ENTRY = "own, an AWS account id in quotes, or rights";

test("the smallest file means the defaults", () => {
  expect(readAccountsFile(SMALL)).toEqual({
    kind: "valid",
    value: {
      accounts: [
        {
          name: "acme",
          baseUrl: undefined,
          apiKey: undefined,
          senders: [{ sender: "own", operations: "all", projects: "all" }],
          operations: "all",
          projects: "all",
          requestsPerSecond: 20,
          taskPath: "/v1/tasks/{task_id}",
          poolPath: "/cloud/v1/lbpools/{project_id}/{region_id}/{pool_id}",
          canList: true,
          ambiguityWindowMs: 300_000,
          maxPauseMs: 900_000,
          deadlinesMs: { default: 7_200_000 },
        },
      ],
      awsAccounts: [],
      organization: undefined,
    },
  });
});

test("everything that a file may say is read", () => {
  const read = readAccountsFile(`
accounts:
  - name: acme
    base_url: https://api.example
    api_key: { parameter: /skyhook/prod/acme }
    senders:
      - "012345678901"
      - { sender: own, operations: [update-container], projects: [7, 8] }
    operations: [update-container, resume-instance]
    projects: [7, 8, 9]
    requests_per_second: 5
    task_path: /cloud/v1/tasks/{task_id}
    pool_path: /cloud/v2/lbpools/{project_id}/{region_id}/{pool_id}
    lists: false
    settle: 90s
    deadlines: { default: 1h, update-container: 7d }
  - { name: other, base_url: "http://127.0.0.1:1", api_key: { environment: OTHER_KEY }, senders: [own] }
aws_accounts:
  - { id: "012345678901", bus: "arn:aws:events:eu-west-1:012345678901:event-bus/theirs" }
organization: o-abcde12345
`);

  expect(read).toMatchObject({
    kind: "valid",
    value: {
      accounts: [
        {
          baseUrl: "https://api.example",
          apiKey: { parameter: "/skyhook/prod/acme" },
          senders: [
            { sender: "012345678901", operations: "all", projects: "all" },
            { sender: "own", operations: ["update-container"], projects: [7, 8] },
          ],
          operations: ["update-container", "resume-instance"],
          projects: [7, 8, 9],
          requestsPerSecond: 5,
          taskPath: "/cloud/v1/tasks/{task_id}",
          poolPath: "/cloud/v2/lbpools/{project_id}/{region_id}/{pool_id}",
          canList: false,
          ambiguityWindowMs: 90_000,
          deadlinesMs: { default: 3_600_000, "update-container": 604_800_000 },
        },
        { name: "other", apiKey: { environment: "OTHER_KEY" } },
      ],
      awsAccounts: [
        {
          id: "012345678901",
          bus: "arn:aws:events:eu-west-1:012345678901:event-bus/theirs",
        },
      ],
      organization: "o-abcde12345",
    },
  });
});

describe("an AWS account id without quotes is reported where it stands, and causes no other problem:", () => {
  test.each(["111122223333", "012345678901", "0123"])("%s", (id) => {
    const text = `accounts:
  - name: acme
    senders: [own, ${id}, { sender: ${id} }, "${id.padStart(12, "0")}"]
aws_accounts:
  - id: ${id}
`;

    expect(problemsIn(text)).toEqual([
      `3: accounts.0.senders.1: ${ENTRY}`,
      `3: accounts.0.senders.2: sender: own, or ${QUOTED}`,
      `5: aws_accounts.0.id: ${QUOTED}`,
    ]);
  });
});

test.each([
  ["nothing", "{}", ["1: accounts: required"]],
  ["no account", "accounts: []", ["1: accounts: at least 1 entries"]],
  [
    "two accounts of one name",
    `accounts:
  - { name: acme, senders: [own] }
  - { name: acme, senders: [own] }`,
    ["3: accounts.1.name: the same as accounts.0.name"],
  ],
  [
    "a sender that stands twice",
    `accounts:
  - name: acme
    senders:
      - own
      - { sender: own, projects: [1] }`,
    ["5: accounts.0.senders.1.sender: the same as accounts.0.senders.0"],
  ],
  [
    "a sender that cannot put events on the bus",
    'accounts: [{ name: acme, senders: ["111122223333"] }]',
    ["1: accounts.0.senders.0: puts no events: not in aws_accounts, no organization"],
  ],
  [
    "rights that are wrong, not the sender that they belong to",
    `accounts:
  - name: acme
    senders:
      - { sender: own, operations: [update-everything], projects: [], more: 1 }`,
    [
      "4: accounts.0.senders.0: operations: all, or a list of update-container, resume-instance, remove-policy-volumes, update-policy, update-pool, update-storage-event, create-router, create-storage-event, follow-task; projects: at least 1 entries; more: unknown field",
    ],
  ],
  [
    "no project at all",
    "accounts: [{ name: acme, senders: [own], projects: [] }]",
    ["1: accounts.0.projects: at least 1 entries"],
  ],
  [
    "a project that is not a number",
    "accounts: [{ name: acme, senders: [own], projects: [1, two] }]",
    ["1: accounts.0.projects: all, or a list of project ids"],
  ],
  [
    "the key itself, which is not quoted",
    "accounts: [{ name: acme, senders: [own], api_key: 1234$abcdef }]",
    [
      "1: accounts.0.api_key: where the key is: `parameter: /name/of/an/ssm/parameter`, or `environment: VARIABLE`; never the key itself",
    ],
  ],
  [
    "an address without a key, which must not get the run's own",
    "accounts: [{ name: acme, senders: [own], base_url: https://api.example }]",
    ["1: accounts.0.api_key: required with base_url"],
  ],
  [
    "times beyond what is kept",
    "accounts: [{ name: acme, senders: [own], base_url: http://a, api_key: { environment: KEY }, settle: 2h, deadlines: { default: 8d } }]",
    ["1: accounts.0.settle: at most 1h", "1: accounts.0.deadlines.default: at most 7d"],
  ],
  [
    "an AWS account that stands twice",
    `accounts: [{ name: acme, senders: [own] }]
aws_accounts: [{ id: "111122223333" }, { id: "111122223333" }]`,
    ["2: aws_accounts.1.id: the same as aws_accounts.0.id"],
  ],
  [
    "fields about a provider's API without an address",
    `accounts:
  - name: acme
    senders: [own]
    task_path: /cloud/v1/tasks/{task_id}
    pool_path: /cloud/v2/lbpools/{project_id}/{region_id}/{pool_id}
    lists: true
    settle: 90s`,
    [
      "4: accounts.0.task_path: only together with base_url",
      "5: accounts.0.pool_path: only together with base_url",
      "6: accounts.0.lists: only together with base_url",
      "7: accounts.0.settle: only together with base_url",
    ],
  ],
  [
    "the bus of another AWS account",
    `accounts: [{ name: acme, senders: [own] }]
aws_accounts:
  - id: "111122223333"
    bus: arn:aws:events:us-east-1:222233334444:event-bus/theirs`,
    [
      "4: aws_accounts.0.bus: bus ARN belongs to a different AWS account; its account id must equal this entry's id",
    ],
  ],
  [
    "a bus that is not an ARN, once",
    `accounts: [{ name: acme, senders: [own] }]
aws_accounts: [{ id: "111122223333", bus: theirs }]`,
    ["2: aws_accounts.0.bus: the ARN of an event bus"],
  ],
  ["an account that is not an object", "accounts: [5]", ["1: accounts.0: an object"]],
])("%s is reported with its line", (_, text, problems) => {
  expect(problemsIn(text)).toEqual(problems);
});

test("each account of a deployment needs a provider and a key in SSM", () => {
  const text = `accounts:
  - { name: acme, senders: [own] }
  - { name: other, senders: [own], base_url: https://api.example }
  - { name: last, senders: [own], base_url: https://api.example, api_key: { environment: KEY } }`;

  expect(problemsIn(text, readDeployedAccounts)).toEqual([
    "2: accounts.0.base_url: required",
    "2: accounts.0.api_key: required",
    "3: accounts.1.api_key: required",
    "4: accounts.2.api_key.environment: for local runs only; a deployment reads keys from SSM: parameter",
  ]);
});

test("a deployment publishes no events on the bus of another AWS account either", () => {
  const text = `accounts:
  - { name: acme, senders: [own], base_url: https://api.example, api_key: { parameter: /acme } }
aws_accounts:
  - { id: "111122223333", bus: "arn:aws:events:us-east-1:222233334444:event-bus/theirs" }`;

  expect(problemsIn(text, readDeployedAccounts)).toEqual([
    "4: aws_accounts.0.bus: bus ARN belongs to a different AWS account; its account id must equal this entry's id",
  ]);
});
