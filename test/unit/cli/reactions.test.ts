import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { runVerb } from "../../support/in-process-verb.ts";
import { runSkyhook } from "../../support/skyhook-process.ts";

const ACCOUNTS = `accounts:
  - name: main
    senders: [own, "111122223333"]
    projects: [7]
aws_accounts:
  - id: "111122223333"
`;
const REACTIONS = `reactions:
  - name: resume-paid-instance
    when: { source: [billing], detail-type: [InvoicePaid], detail: { state: [paid] } }
    account: main
    then:
      operation: resume-instance
      params: { project_id: $.detail.project, region_id: 76, instance_id: $.detail.instance }
    deadline: 30m
  - name: set-variables
    when: { source: [vault] }
    account: main
    then:
      operation: update-container
      params: { project_id: 7, region_id: 76, container_name: $.detail.container }
      body: { envs: $.detail.variables }
    guards:
      - network: { project_id: 7, region_id: 76, network_id: $.detail.network }
        key: $.detail.key
        equals: open
`;

const ID = "17793124-05d4-b198-2fde-7ededc63b103";
const PAID = {
  id: ID,
  "detail-type": "InvoicePaid",
  source: "billing",
  account: "111122223333",
  time: "2026-01-31T12:00:00Z",
  detail: { project: 7, instance: "i-1", state: "paid" },
};
const COMMAND = {
  metadata: {
    id: ID,
    commandId: `${ID}:resume-paid-instance`,
    correlationId: ID,
    time: "2026-01-31T12:00:00Z",
  },
  data: {
    operation: "resume-instance",
    account: "main",
    params: { project_id: 7, region_id: 76, instance_id: "i-1" },
    deadline: "2026-01-31T12:30:00.000Z",
  },
};

const VARIABLES_CHANGED = {
  ...PAID,
  source: "vault",
  detail: {
    container: "web",
    variables: { TOKEN: "canary-5eed" },
    network: "b39792c3-3160-4356-912e-ba396c95cdcf",
    key: "state",
  },
};
const changedWith = (fields: object) => ({
  ...VARIABLES_CHANGED,
  detail: { ...VARIABLES_CHANGED.detail, ...fields },
});

const madeSchema = z.object({
  command: z.object({
    metadata: z.object({ id: z.string(), commandId: z.string(), time: z.string() }),
  }),
});

let folder: string;
const at = (name: string): string => join(folder, name);

const reactions = (args: readonly string[], input?: string) =>
  input === undefined
    ? runVerb(["reactions", ...args])
    : runSkyhook(["reactions", ...args], {}, input);

let events = 0;
/** Tests an event with both files. */
const react = async (rule: string, event: object, ...more: readonly string[]) => {
  events += 1;
  const file = at(`event-${events}.json`);
  await writeFile(file, JSON.stringify(event));
  return reactions([
    "test",
    rule,
    file,
    "--reactions",
    at("reactions.yaml"),
    "--accounts",
    at("accounts.yaml"),
    ...more,
  ]);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "skyhook-reactions-"));
  await writeFile(at("accounts.yaml"), ACCOUNTS);
  await writeFile(at("reactions.yaml"), REACTIONS);
  await writeFile(at("event.json"), JSON.stringify(PAID));
});

afterAll(() => rm(folder, { recursive: true }));

describe("skyhook reactions test", () => {
  it("has help that fits into 80 columns", async () => {
    const { stdout } = await reactions(["test", "--help"]);

    expect(stdout).toContain("<event>");
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it("shows the command that a rule creates, and the sender's right", async () => {
    const ended = await react("resume-paid-instance", PAID);

    expect(ended).toEqual({
      exitCode: 0,
      stdout: `the event matches\nthe command:\n${JSON.stringify(COMMAND, undefined, 2)}\nAWS account 111122223333 may run it\n`,
      stderr: "",
    });
  });

  it("reads the event from a file, and prints JSON", async () => {
    const files = ["--reactions", at("reactions.yaml"), "--accounts", at("accounts.yaml")];

    const ended = await reactions([
      "test",
      "resume-paid-instance",
      at("event.json"),
      ...files,
      "--json",
    ]);

    expect(ended.exitCode).toBe(0);
    expect(JSON.parse(ended.stdout)).toEqual({
      rule: "resume-paid-instance",
      kind: "command",
      command: COMMAND,
      access: "allowed",
    });
  });

  it("checks no rights without an accounts file", async () => {
    const ended = await reactions(
      ["test", "resume-paid-instance", "-", "--reactions", at("reactions.yaml"), "--json"],
      JSON.stringify(PAID),
    );

    expect(ended.exitCode).toBe(0);
    expect(JSON.parse(ended.stdout)).not.toHaveProperty("access");
    expect(ended.stderr).toBe("rights are not checked: no accounts.yaml in this folder\n");
  });

  it("names the fields on which an event does not match", async () => {
    const event = { ...PAID, source: "shop", detail: { ...PAID.detail, state: "open" } };

    const shown = await react("resume-paid-instance", event);
    const printed = await react("resume-paid-instance", event, "--json");

    expect(shown).toEqual({
      exitCode: 2,
      stdout: "no match on detail.state, source\n",
      stderr: "",
    });
    expect(JSON.parse(printed.stdout)).toEqual({
      rule: "resume-paid-instance",
      kind: "no-match",
      unfit: ["detail.state", "source"],
    });
  });

  it("names the missing fields of the event", async () => {
    const ended = await react("resume-paid-instance", { ...PAID, detail: { state: "paid" } });

    expect(ended).toEqual({
      exitCode: 2,
      stdout:
        "the event matches\nno command: the event lacks fields that the rule reads:\n  $.detail.project: not in the event\n  $.detail.instance: not in the event\n",
      stderr: "",
    });
  });

  it("lists the problems of an invalid command", async () => {
    const event = { ...PAID, detail: { ...PAID.detail, project: "7" } };

    const ended = await react("resume-paid-instance", event);

    expect(ended.exitCode).toBe(2);
    expect(ended.stdout).toContain(
      "the event matches\nthe command would be rejected:\n  params.project_id: a number\nthe command:\n{\n",
    );
    expect(ended.stdout).toContain('"project_id": "7"');
  });

  it.each([
    ["a guard of a wrong shape", { key: "" }, "guards.0.key: 1 to 255 characters"],
    [
      "a name that is too long for a lane",
      { container: "c".repeat(601) },
      "params.container_name: at most 600 characters when URL-encoded",
    ],
  ])("shows %s", async (_what, fields, problem) => {
    const ended = await react("set-variables", changedWith(fields));

    expect(ended.exitCode).toBe(2);
    expect(ended.stdout).toContain(`the command would be rejected:\n  ${problem}\nthe command:\n`);
  });

  it.each([
    ["another project", { ...PAID, detail: { ...PAID.detail, project: 8 } }, [], "refused", 2],
    [
      "another AWS account",
      { ...PAID, account: "222222222222" },
      ["--own", "333333333333"],
      "refused",
      2,
    ],
    [
      "Skyhook's own AWS account",
      { ...PAID, account: "222222222222" },
      ["--own", "222222222222"],
      "allowed",
      0,
    ],
    [
      "what may be Skyhook's own AWS account",
      { ...PAID, account: "222222222222" },
      [],
      "if-own",
      0,
    ],
    ["no AWS account", { ...PAID, account: undefined }, ["--own", "333333333333"], "allowed", 0],
    ["neither", { ...PAID, account: undefined }, [], "allowed", 0],
  ])("shows the rights of %s", async (_who, event, flags, access, exitCode) => {
    const ended = await react("resume-paid-instance", event, "--json", ...flags);

    expect(ended.exitCode).toBe(exitCode);
    expect(JSON.parse(ended.stdout)).toMatchObject({ kind: "command", access });
  });

  it("adds the fields that `put-event` adds", async () => {
    const { id, time, account, ...bare } = PAID;

    const ended = await react("resume-paid-instance", bare, "--json", "--own", "333333333333");

    const { command } = madeSchema.parse(JSON.parse(ended.stdout));
    expect(ended).toMatchObject({
      exitCode: 0,
      stderr: "added to the event, as by put-event: id, account, time\n",
    });
    expect(command.metadata.commandId).toBe(`${command.metadata.id}:resume-paid-instance`);
    expect(command.metadata.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(id + time + account).not.toContain(command.metadata.id);
  });

  it.each([
    [{ source: "billing", detail: {} }, "standard input: detail-type: required\n"],
    [
      { ...PAID, account: "12" },
      "standard input: account: must be an AWS account id of 12 digits\n",
    ],
  ])("refuses an event that `put-event` refuses: %j", async (event, stderr) => {
    const files = ["--reactions", at("reactions.yaml"), "--accounts", at("accounts.yaml")];
    const args = ["test", "resume-paid-instance", "-", ...files];
    const ended = await reactions(args, JSON.stringify(event));

    expect(ended).toEqual({ exitCode: 2, stdout: "", stderr });
  });

  it("shows no value of a secret field", async () => {
    const shown = await react("set-variables", VARIABLES_CHANGED);
    const printed = await react("set-variables", VARIABLES_CHANGED, "--json");

    expect(shown.stdout).toContain('"TOKEN": "[redacted]"');
    expect(shown.stdout + printed.stdout).not.toContain("canary");
  });

  it("refuses an event that is nested too deeply", async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const text = JSON.stringify(changedWith({ variables: "DEEP" }));

    const ended = await reactions(
      ["test", "set-variables", "-", "--reactions", at("reactions.yaml")],
      text.replace('"DEEP"', deep),
    );

    expect(ended.exitCode).toBe(2);
    expect(ended.stdout).toBe("");
    expect(ended.stderr).toContain("standard input: must not be nested deeper than 32 levels\n");
  });

  it.each([
    [
      "an unknown rule",
      ["nope", "-"],
      "{}",
      "no rule nope in the reactions file; its rules: resume-paid-instance, set-variables\n",
    ],
    [
      "an event file that there is not",
      ["set-variables", "no-such.json"],
      "",
      "no-such.json: no such file\n",
    ],
    [
      "an event that is no JSON",
      ["set-variables", "-"],
      "{",
      "standard input: not valid JSON at line 1, column 2\n",
    ],
    [
      "an event that is a list",
      ["set-variables", "-"],
      "[{}]",
      "standard input: must be a JSON object with one event\n",
    ],
    [
      "an own account that is none",
      ["set-variables", "-", "--own", "12"],
      "{}",
      "--own: must be an AWS account id, 12 digits such as 111122223333\n",
    ],
    [
      "an accounts file that there is not",
      ["set-variables", "-", "--accounts", "no-such.yaml"],
      "{}",
      "no-such.yaml: no such file\n",
    ],
  ])("refuses %s", async (_what, args, input, stderr) => {
    const ended = await reactions(["test", ...args, "--reactions", at("reactions.yaml")], input);

    expect({ ...ended, stderr: ended.stderr.replace(/^accounts are not .*\n/, "") }).toEqual({
      exitCode: 2,
      stdout: "",
      stderr,
    });
  });
});

describe("skyhook reactions check", () => {
  it("lists the rules of a file without mistakes", async () => {
    const ended = await reactions([
      "check",
      at("reactions.yaml"),
      "--accounts",
      at("accounts.yaml"),
    ]);

    expect(ended).toEqual({
      exitCode: 0,
      stdout:
        "2 rules, no mistakes\n  resume-paid-instance: resume-instance, account main\n  set-variables: update-container, account main\n",
      stderr: "",
    });
  });

  it("names every mistake with its line, and ends with status 2", async () => {
    const path = at("wrong.yaml");
    await writeFile(
      path,
      REACTIONS.replace("source: [billing], ", "")
        .replace("account: main", "account: mian")
        .replace("instance_id:", "instance:"),
    );

    const ended = await reactions(["check", path, "--accounts", at("accounts.yaml")]);

    expect(ended).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: `${path}:3: reactions.0.when.source: required: without it the rule would match Skyhook's own events too
${path}:4: reactions.0.account: unknown account, must be one of: main
${path}:7: reactions.0.then.params.instance_id: required
${path}:7: reactions.0.then.params.instance: unknown field
`,
    });
  });

  it("recognizes Skyhook's own events under another source", async () => {
    const path = at("reactions.yaml");

    const ended = await reactions(["check", path, "--event-source", "vault"]);

    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toContain(
      "reactions.1.when.detail-type: required for Skyhook's own events: list each detail-type by name",
    );
  });

  it("reports the mistakes in the accounts file", async () => {
    const path = at("accounts-wrong.yaml");
    await writeFile(path, "accounts:\n  - name: main\n    sender: [own]\n");

    const ended = await reactions(["check", at("reactions.yaml"), "--accounts", path]);

    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toContain(`${path}:3: accounts.0.sender: unknown field`);
  });
});
