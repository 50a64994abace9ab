import { describe, expect, test } from "vitest";
import { type AccessRequest, createAccess } from "../../../lib/provider/access.ts";
import { parseAccounts } from "../../../lib/provider/accounts-config.ts";

const OURS = "999988887777";
const FULL = "111111111111";
const NARROW = "222222222222";
const STRANGER = "333333333333";

const access = createAccess(
  parseAccounts({
    accounts: [
      {
        name: "open",
        senders: [
          "own",
          FULL,
          {
            sender: NARROW,
            operations: ["update-container", "update-storage-event"],
            projects: [1],
          },
        ],
        deadlines: { default: "1h", "update-container": "5m" },
      },
      {
        name: "fenced",
        senders: ["own", { sender: NARROW, operations: ["update-container"], projects: [1, 2] }],
        operations: ["update-container", "update-storage-event"],
        projects: [2],
      },
    ],
    aws_accounts: [{ id: FULL }, { id: NARROW }],
  }),
  OURS,
);

const SENDERS = { ours: OURS, full: FULL, narrow: NARROW, stranger: STRANGER, own: "own" };
const ACCOUNTS = ["open", "fenced", "unknown"];
const OPERATIONS = ["update-container", "resume-instance", "update-storage-event"];
const PROJECTS = [1, 2, undefined];

/** All allowed requests; all others are refused. A project of `-` stands for an operation without a project. */
const ALLOWED = new Set([
  "ours open update-container 1",
  "ours open update-container 2",
  "ours open update-container -",
  "ours open resume-instance 1",
  "ours open resume-instance 2",
  "ours open resume-instance -",
  "ours open update-storage-event 1",
  "ours open update-storage-event 2",
  "ours open update-storage-event -",
  "full open update-container 1",
  "full open update-container 2",
  "full open update-container -",
  "full open resume-instance 1",
  "full open resume-instance 2",
  "full open resume-instance -",
  "full open update-storage-event 1",
  "full open update-storage-event 2",
  "full open update-storage-event -",
  "narrow open update-container 1",
  "narrow open update-container -",
  "narrow open update-storage-event 1",
  "narrow open update-storage-event -",
  "ours fenced update-container 2",
  "ours fenced update-container -",
  "ours fenced update-storage-event 2",
  "ours fenced update-storage-event -",
  "narrow fenced update-container 2",
  "narrow fenced update-container -",
]);

const CASES = Object.entries(SENDERS).flatMap(([name, sender]) =>
  ACCOUNTS.flatMap((account) =>
    OPERATIONS.flatMap((operation) =>
      PROJECTS.map((project) => ({
        name: `${name} ${account} ${operation} ${project ?? "-"}`,
        request: { sender, account, operation, project } satisfies AccessRequest,
      })),
    ),
  ),
);

describe("rights of senders", () => {
  test.each(CASES.filter(({ name }) => ALLOWED.has(name)))("allowed: $name", ({ request }) => {
    expect(access.mayRun(request)).toBe(true);
  });

  test.each(CASES.filter(({ name }) => !ALLOWED.has(name)))("refused: $name", ({ request }) => {
    expect(access.mayRun(request)).toBe(false);
  });

  test("the allowed and the refused requests are all combinations", () => {
    expect(CASES).toHaveLength(5 * 3 * 3 * 3);
    expect(CASES.filter(({ name }) => ALLOWED.has(name))).toHaveLength(28);
  });
});

/** Sender, account and project of all resources that a sender may see. */
const SEEN = new Set([
  "ours open 1",
  "ours open 2",
  "ours open -",
  "full open 1",
  "full open 2",
  "full open -",
  "narrow open 1",
  "ours fenced 2",
  "narrow fenced 2",
]);

test("only senders with rights to a project see its resources", () => {
  const seen = Object.entries(SENDERS).flatMap(([name, sender]) =>
    ACCOUNTS.flatMap((account) =>
      PROJECTS.filter((project) => access.maySee(sender, account, project)).map(
        (project) => `${name} ${account} ${project ?? "-"}`,
      ),
    ),
  );

  expect(new Set(seen)).toEqual(SEEN);
});

describe("our own AWS account, listed both as `own` and by its id", () => {
  const both = createAccess(
    parseAccounts({
      accounts: [
        {
          name: "acme",
          senders: [
            { sender: "own", operations: ["update-container"], projects: [1] },
            { sender: OURS, operations: ["update-policy"], projects: [2] },
          ],
        },
      ],
      organization: "o-abcde12345",
    }),
    OURS,
  );

  test.each([
    ["update-container", 1, true],
    ["update-policy", 2, true],
    ["update-container", 2, false],
    ["update-policy", 1, false],
    ["resume-instance", 1, false],
  ])("has the rights of both entries: %s in project %i: %s", (operation, project, isAllowed) => {
    expect(both.mayRun({ sender: OURS, account: "acme", operation, project })).toBe(isAllowed);
  });

  test("sees the projects of both entries, and may use the account", () => {
    const seen = [1, 2, 3].filter((project) => both.maySee(OURS, "acme", project));

    expect(seen).toEqual([1, 2]);
    expect(both.accountsOf(OURS)).toEqual(["acme"]);
  });
});

test.each([
  ["one account", FULL, ["open"]],
  ["several accounts", OURS, ["open", "fenced"]],
  ["no account", STRANGER, []],
])("a sender may use %s", (_, sender, accounts) => {
  expect(access.accountsOf(sender)).toEqual(accounts);
});

test.each([
  ["open", "update-container", 300_000],
  ["open", "resume-instance", 3_600_000],
  ["fenced", "update-container", 7_200_000],
])("in account %s, %s without a deadline gets %i ms", (account, operation, ms) => {
  expect(access.deadlineMs(account, operation)).toBe(ms);
});
