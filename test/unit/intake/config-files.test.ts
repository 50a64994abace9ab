import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type DeploymentInput, readConfigFiles } from "../../../lib/intake/config-files.ts";

const ACCOUNTS = `accounts:
  - { name: one, base_url: https://api.example.com, api_key: { parameter: /k }, senders: [own] }
  - { name: two, base_url: https://api.example.com, api_key: { parameter: /k }, senders: [own] }
`;
const NO_REACTIONS = "reactions: []";
const EXAMPLE = ACCOUNTS.replace("two", "example");

const input = (given: {
  readonly accounts?: string | undefined;
  readonly reactions?: string | undefined;
  readonly jobAccount?: string;
  readonly stage?: string;
}): DeploymentInput => ({
  accounts: {
    name: "a.yaml",
    text: "accounts" in given ? given.accounts : ACCOUNTS,
    example: { name: "a.example.yaml", text: EXAMPLE },
  },
  reactions: {
    name: "r.yaml",
    text: "reactions" in given ? given.reactions : NO_REACTIONS,
    example: { name: "r.example.yaml", text: undefined },
  },
  jobAccount: given.jobAccount ?? "",
  aiTaskName: "",
  monitoring: "yes",
  eventSource: "skyhook",
  stage: given.stage ?? "dev",
  fingerprintKeyParameter: "/skyhook/dev/fingerprint-key",
});

test("the jobs use the first account of the file unless jobAccount names another", () => {
  expect(readConfigFiles(input({}))).toMatchObject({ kind: "valid", jobAccount: "one" });
  expect(readConfigFiles(input({ jobAccount: "two" }))).toMatchObject({ jobAccount: "two" });
});

test("a jobAccount that is not in the file is rejected", () => {
  expect(readConfigFiles(input({ jobAccount: "three" }))).toEqual({
    kind: "invalid",
    problems: ["jobAccount: must be an account of a.yaml, one of one, two"],
  });
});

test("the problems of both files are reported together, as file, line, field and rule", () => {
  const reading = readConfigFiles(
    input({ accounts: ACCOUNTS.replace("https", "ftp"), reactions: "reactions:\n  - colour: red" }),
  );

  const problems = reading.kind === "invalid" ? reading.problems : [];
  expect(problems).toContain("a.yaml:2: accounts.0.base_url: must be an http or https URL");
  expect(problems).toContain("r.yaml:2: reactions.0.colour: unknown field");
  expect(problems.toSorted((a, b) => a.charCodeAt(0) - b.charCodeAt(0))).toEqual(problems);
});

test.each([
  [
    "aiTaskName",
    "nonne",
    "must be one of transcription, content-moderation, none; or empty for all",
  ],
  ["monitoring", "true", "must be yes or no"],
  [
    "eventSource",
    "aws.skyhook",
    "must be a source name such as skyhook, and must not begin with aws.",
  ],
  [
    "eventSource",
    "sky hook",
    "must be a source name such as skyhook, and must not begin with aws.",
  ],
  [
    "stage",
    "production-eu",
    "must have 1 to 12 letters, digits and hyphens, because it is part of the names of rules",
  ],
  ["fingerprintKeyParameter", "key", "must be the name of an SSM parameter, with a slash first"],
])("the stage parameter %s must not be %s", (name, value, rule) => {
  expect(readConfigFiles({ ...input({}), [name]: value })).toEqual({
    kind: "invalid",
    problems: [`${name}: ${rule}`],
  });
});

test("a file that is not YAML is reported with its line", () => {
  expect(readConfigFiles(input({ accounts: "accounts:\n  - [" }))).toMatchObject({
    kind: "invalid",
    problems: [expect.stringMatching(/^a\.yaml:2: not readable as YAML: /)],
  });
});

test("a file that cannot be used is reported with the mistakes in the other one", () => {
  const reactions = "reactions:\n  - colour: red";
  const mistake = "r.yaml:2: reactions.0.colour: unknown field";

  const missing = readConfigFiles(input({ accounts: undefined, reactions }));
  const unedited = readConfigFiles(
    input({ accounts: EXAMPLE, reactions, jobAccount: "x", stage: "prod" }),
  );
  const other = readConfigFiles(input({ accounts: "accounts: 1", reactions: undefined }));

  const problemsOf = (reading: typeof missing) =>
    reading.kind === "invalid" ? reading.problems : [];
  expect(problemsOf(missing)).toEqual(
    expect.arrayContaining([
      "a.yaml: file not found; create it, with a.example.yaml as a model",
      mistake,
    ]),
  );
  expect(problemsOf(unedited)).toEqual(
    expect.arrayContaining([
      "a.yaml: equals a.example.yaml, which only the stage dev may use; edit it",
      mistake,
    ]),
  );
  expect(problemsOf(unedited).filter((line) => line.startsWith("jobAccount"))).toEqual([]);
  expect(problemsOf(other)).toEqual([
    expect.stringMatching(/^a\.yaml:1: accounts: /),
    "r.yaml: file not found; create it, with r.example.yaml as a model",
  ]);
});

test("only the stage dev may use the example, also as an unedited copy", () => {
  expect(readConfigFiles(input({ accounts: EXAMPLE, stage: "prod" }))).toEqual({
    kind: "invalid",
    problems: ["a.yaml: equals a.example.yaml, which only the stage dev may use; edit it"],
  });
  expect(readConfigFiles(input({ accounts: EXAMPLE }))).toMatchObject({ kind: "valid" });
});

test("a copy of the example with the schema at another path is still the example", () => {
  const schemaAt = (path: string) => `# yaml-language-server: $schema=${path}\n${EXAMPLE}`;
  const copied = input({ accounts: schemaAt("accounts.schema.json"), stage: "prod" });
  const example = { name: "a.example.yaml", text: schemaAt("../schemas/accounts.schema.json") };

  expect(readConfigFiles({ ...copied, accounts: { ...copied.accounts, example } })).toEqual({
    kind: "invalid",
    problems: ["a.yaml: equals a.example.yaml, which only the stage dev may use; edit it"],
  });
});

test("the packaged JSON has the shape of the files, with large integers as decimal strings", () => {
  const reactions = `reactions:
  - name: raise
    when: { source: [files], detail-type: [Grown] }
    account: one
    then:
      operation: update-storage-event
      body: { name: reaching_used_space, bucket_name: b, bytes: 18446744073709551615 }
    deadline: 30m
`;

  const reading = readConfigFiles(input({ reactions }));

  if (reading.kind === "invalid") throw new Error(reading.problems.join("\n"));
  expect(JSON.parse(reading.packaged.accounts)).toMatchObject({
    accounts: [{ name: "one", base_url: "https://api.example.com" }, { name: "two" }],
  });
  expect(reading.packaged.reactions).toBe(
    '{"reactions":[{"name":"raise","when":{"source":["files"],"detail-type":["Grown"]},"account":"one","then":{"operation":"update-storage-event","body":{"name":"reaching_used_space","bucket_name":"b","bytes":"18446744073709551615"}},"deadline":"30m"}]}',
  );
});

test("a rule has the pattern as written, and Skyhook's bus by default", () => {
  const text = (name: string): string => readFileSync(`infra/${name}.example.yaml`, "utf8");

  const reading = readConfigFiles(
    input({ accounts: text("accounts"), reactions: text("reactions") }),
  );

  expect(reading).toMatchObject({
    kind: "valid",
    rules: [
      {
        name: "resume-paid-instance",
        when: { account: ["111122223333"], source: ["billing"], "detail-type": ["InvoicePaid"] },
        bus: "skyhook",
      },
      { name: "pause-policy-on-report", bus: "default" },
    ],
  });
});
