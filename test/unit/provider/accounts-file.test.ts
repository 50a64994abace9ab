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
const QUOTED = 'must be an AWS account id in quotes, such as "111122223333"';
const ENTRY = "must be own, an AWS account id in quotes, or an object with `sender`";
const OWN_OR_ID = 'must be own, or an AWS account id in quotes, such as "111122223333"';

test("the smallest file gets the defaults", () => {
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

test("reads every field of a file", () => {
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

describe("an AWS account id without quotes is reported at its line only:", () => {
  test.each(["111122223333", "012345678901", "0123"])("%s", (id) => {
    const text = `accounts:
  - name: acme
    senders: [own, ${id}, { sender: ${id} }, "${id.padStart(12, "0")}"]
aws_accounts:
  - id: ${id}
`;

    expect(problemsIn(text)).toEqual([
      `3: accounts.0.senders.1: ${ENTRY}`,
      `3: accounts.0.senders.2: sender: ${OWN_OR_ID}`,
      `5: aws_accounts.0.id: ${QUOTED}`,
    ]);
  });
});

test.each([
  ["an empty file", "{}", ["1: accounts: required"]],
  ["no account", "accounts: []", ["1: accounts: at least 1 entries"]],
  [
    "a duplicate account name",
    `accounts:
  - { name: acme, senders: [own] }
  - { name: acme, senders: [own] }`,
    ["3: accounts.1.name: duplicate of accounts.0.name"],
  ],
  [
    "a duplicate sender",
    `accounts:
  - name: acme
    senders:
      - own
      - { sender: own, projects: [1] }`,
    ["5: accounts.0.senders.1.sender: duplicate of accounts.0.senders.0"],
  ],
  [
    "a sender that cannot put events on the bus",
    'accounts: [{ name: acme, senders: ["111122223333"] }]',
    [
      "1: accounts.0.senders.0: may not put events on the bus: add it to aws_accounts, or set organization",
    ],
  ],
  [
    "an invalid field of a rights object",
    `accounts:
  - name: acme
    senders:
      - { sender: own, operations: [update-everything], projects: [], more: 1 }`,
    [
      "4: accounts.0.senders.0: operations: must be all, or a list of these operations: update-container, resume-instance, remove-policy-volumes, update-policy, update-pool, update-storage-event, create-router, create-storage-event, follow-task; projects: at least 1 entries; more: unknown field",
    ],
  ],
  [
    "an empty list of projects",
    "accounts: [{ name: acme, senders: [own], projects: [] }]",
    ["1: accounts.0.projects: at least 1 entries"],
  ],
  [
    "a project that is not a number",
    "accounts: [{ name: acme, senders: [own], projects: [1, two] }]",
    ["1: accounts.0.projects: must be all, or a list of project ids"],
  ],
  [
    "a literal key, without quoting it,",
    "accounts: [{ name: acme, senders: [own], api_key: 1234$abcdef }]",
    [
      "1: accounts.0.api_key: must say where the key is: `parameter: /name/of/an/ssm/parameter` or `environment: VARIABLE`; never the key itself",
    ],
  ],
  [
    "a base_url without api_key",
    "accounts: [{ name: acme, senders: [own], base_url: https://api.example }]",
    ["1: accounts.0.api_key: required together with base_url"],
  ],
  [
    "a time span above its limit",
    "accounts: [{ name: acme, senders: [own], base_url: http://a, api_key: { environment: KEY }, settle: 2h, deadlines: { default: 8d } }]",
    ["1: accounts.0.settle: at most 1h", "1: accounts.0.deadlines.default: at most 7d"],
  ],
  [
    "a duplicate AWS account",
    `accounts: [{ name: acme, senders: [own] }]
aws_accounts: [{ id: "111122223333" }, { id: "111122223333" }]`,
    ["2: aws_accounts.1.id: duplicate of aws_accounts.0.id"],
  ],
  [
    "a field about the provider's API without base_url",
    `accounts:
  - name: acme
    senders: [own]
    task_path: /cloud/v1/tasks/{task_id}
    pool_path: /cloud/v2/lbpools/{project_id}/{region_id}/{pool_id}
    lists: true
    settle: 90s`,
    [
      "4: accounts.0.task_path: allowed only together with base_url",
      "5: accounts.0.pool_path: allowed only together with base_url",
      "6: accounts.0.lists: allowed only together with base_url",
      "7: accounts.0.settle: allowed only together with base_url",
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
    "a bus without an ARN",
    `accounts: [{ name: acme, senders: [own] }]
aws_accounts: [{ id: "111122223333", bus: theirs }]`,
    [
      "2: aws_accounts.0.bus: must be the ARN of an event bus, such as arn:aws:events:eu-central-1:111122223333:event-bus/NAME",
    ],
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
    "4: accounts.2.api_key.environment: allowed in local runs only; a deployment reads its keys from SSM, so use parameter",
  ]);
});

test("a deployment also rejects the bus of another AWS account", () => {
  const text = `accounts:
  - { name: acme, senders: [own], base_url: https://api.example, api_key: { parameter: /acme } }
aws_accounts:
  - { id: "111122223333", bus: "arn:aws:events:us-east-1:222233334444:event-bus/theirs" }`;

  expect(problemsIn(text, readDeployedAccounts)).toEqual([
    "4: aws_accounts.0.bus: bus ARN belongs to a different AWS account; its account id must equal this entry's id",
  ]);
});
