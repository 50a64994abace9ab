import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, type TestContext } from "vitest";
import type { BusEvent } from "../../../lib/local/local-bus.ts";
import type { JobChoice } from "../../../lib/local/scheduled-jobs.ts";
import { toAccountsConfig } from "../../../lib/provider/accounts-config.ts";
import {
  consoleOf,
  eventsIn,
  type SkyhookProcess,
  startSkyhook,
} from "../../support/skyhook-process.ts";
import { openQuietly } from "./open-quietly.ts";

const TEAM = "111111111111";

const ACCOUNTS = "accounts:\n  - { name: local, senders: [own], requests_per_second: 1000 }\n";

const reactionsOn = (status: string): string => `reactions:
  - name: on-change
    when: { source: [team], detail: { status: [${status}] } }
    then:
      operation: update-policy
      params: { project_id: 1234567, region_id: 76, policy_id: 1 }
      body: { status: $.detail.status }
`;

type Finishing = Pick<TestContext, "onTestFinished">;

const newFolder = async ({ onTestFinished }: Finishing): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-reread-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

/** Replaces a file in one step, as careful editors do. */
const replaceFile = async (file: string, text: string): Promise<void> => {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
};

const startWithFiles = async ({ onTestFinished }: Finishing) => {
  const folder = await newFolder({ onTestFinished });
  const accounts = join(folder, "accounts.yaml");
  const reactions = join(folder, "reactions.yaml");
  await writeFile(accounts, ACCOUNTS);
  await writeFile(reactions, reactionsOn("active"));
  const files = ["--accounts", accounts, "--reactions", reactions];
  const program = startSkyhook(["start", "--no-demo", "--json", "--port", "0", ...files]);
  onTestFinished(() => {
    program.child.kill("SIGKILL");
  });
  await program.printed("What can be sent");
  return { program, accounts, reactions };
};

const putTeamEvent = async (program: SkyhookProcess, fields: object): Promise<unknown> => {
  const { url, headers } = consoleOf(program);
  const response = await fetch(`${url}/events`, {
    method: "POST",
    headers,
    body: JSON.stringify({ source: "team", "detail-type": "StatusChanged", ...fields }),
  });
  return response.json();
};

describe("the files of skyhook start", () => {
  it.concurrent("take effect when they change: the new reaction turns an event into a command", async (context) => {
    const { program, reactions } = await startWithFiles(context);
    const event = { id: "e1", detail: { status: "paused" } };
    const before = await putTeamEvent(program, event);

    await replaceFile(reactions, reactionsOn("paused"));
    await program.printed(`${reactions}: the new version is in effect\n`);
    const after = await putTeamEvent(program, { ...event, id: "e2" });
    await program.printed("CommandSucceeded");

    expect(before).toMatchObject({ rules: [{ kind: "no-match", unfit: ["detail.status"] }] });
    expect(after).toMatchObject({ rules: [{ kind: "command", commandId: "e2:on-change" }] });
    const ids = eventsIn(program.stdout()).map(({ detail }) => detail.metadata.commandId);
    expect(new Set(ids)).toEqual(new Set(["e2:on-change"]));
  });

  it.concurrent("keep the old version in effect when the new one is invalid, and report problems with lines", async (context) => {
    const { program, reactions } = await startWithFiles(context);

    await replaceFile(reactions, reactionsOn("active").replace("status: $", "colour: $"));
    await program.printed("the previous version stays in effect\n");
    const stays = await putTeamEvent(program, { id: "e1", detail: { status: "active" } });
    await replaceFile(reactions, reactionsOn("active"));
    await program.printed("reactions.yaml: back to the version in effect\n");

    expect(program.stderr()).toContain(`${reactions}:7: reactions.0.then.body.colour: unknown`);
    expect(stays).toMatchObject({ rules: [{ kind: "command", commandId: "e1:on-change" }] });
  });

  it.concurrent("stay in effect when a file disappears, with a warning", async (context) => {
    const { program, accounts } = await startWithFiles(context);

    await rm(accounts);
    await program.printed(`${accounts}: no such file\nthe previous version stays in effect\n`);

    const event = { id: "e1", detail: { status: "active" } };
    expect(await putTeamEvent(program, event)).toMatchObject({ rules: [{ kind: "command" }] });
  });

  it.concurrent("accept events of an AWS account that the new accounts file adds", async (context) => {
    const { program, accounts } = await startWithFiles(context);
    const event = { id: "e1", account: TEAM, detail: { status: "active" } };
    const before = await putTeamEvent(program, event);

    await replaceFile(
      accounts,
      `${ACCOUNTS.replace("[own]", `[own, "${TEAM}"]`)}aws_accounts: [{ id: "${TEAM}" }]\n`,
    );
    await program.printed(`${accounts}: the new version is in effect\n`);
    const after = await putTeamEvent(program, event);

    expect(before).toEqual({
      error: `AWS account ${TEAM} may not put events; add it to aws_accounts in the accounts file`,
    });
    expect(after).toMatchObject({ rules: [{ kind: "command", commandId: "e1:on-change" }] });
  });
});

const account = (name: string, fields: object = {}) => ({ name, senders: ["own"], ...fields });
const BUS = `arn:aws:events:us-east-1:${TEAM}:event-bus/own`;

const configOf = (...accounts: readonly ReturnType<typeof account>[]) =>
  toAccountsConfig({
    accounts: accounts.map((each) => ({ requests_per_second: 1000, ...each })),
    aws_accounts: [{ id: TEAM, bus: BUS }],
  });

const open = async (
  config = configOf(account("local"), account("other")),
  jobs: JobChoice = {},
) => {
  const automation = await openQuietly({ accounts: config, jobs });
  onTestFinished(() => automation.stop());
  return automation;
};

describe("reconfigure", () => {
  it("keeps pause, key and permits of an account with unchanged settings, or with changed rights only", async () => {
    const { deps, reconfigure } = await open();
    const [local, other] = ["local", "other"].map(deps.accountOf);

    reconfigure({
      accounts: configOf(account("local", { senders: ["own", TEAM] }), account("other")),
      reactions: [],
    });

    expect(deps.accountOf("local")).toBe(local);
    expect(deps.accountOf("other")).toBe(other);
    expect(deps.access.accountsOf(TEAM)).toEqual(["local"]);
  });

  it("opens changed accounts again, adds new ones and drops the others", async () => {
    const { deps, reconfigure } = await open();
    const local = deps.accountOf("local");

    const slower = account("local", { requests_per_second: 5 });
    reconfigure({ accounts: configOf(slower, account("third")), reactions: [] });

    expect(deps.accountOf("local")).not.toBe(local);
    expect(deps.accountOf("third")?.name).toBe("third");
    expect(deps.accountOf("other")).toBeUndefined();
  });

  it("refuses to move the scheduled jobs to another account or provider", async () => {
    const jobs: JobChoice = { aiTasks: "all" };
    const { deps, accounts, reconfigure } = await open(undefined, jobs);
    const key = { environment: "KEY" };
    const elsewhere = account("local", { base_url: "https://api.example.com", api_key: key });

    for (const config of [configOf(account("other")), configOf(elsewhere)]) {
      expect(() => reconfigure({ accounts: config, reactions: [] })).toThrow(
        "would move the scheduled jobs away from account local or its provider; restart Skyhook to move them",
      );
    }

    expect(deps.accountOf("other")?.name).toBe("other");
    expect(accounts.accounts).toHaveLength(2);
  });

  it("sends the events of a command to a bus of the new version", async () => {
    const automation = await open(toAccountsConfig({ accounts: [account("local")] }));
    const forwarded = new Promise<BusEvent>((resolve) => {
      automation.routes.subscribeAs(TEAM, async (event) => resolve(event));
    });
    automation.start();

    automation.reconfigure({ accounts: configOf(account("local")), reactions: [] });
    await automation.routes.put({
      source: "their.tool",
      "detail-type": "CommandRequested",
      account: TEAM,
      detail: { metadata: { id: "c1" }, data: { operation: "update-policy" } },
    });

    expect((await forwarded)["detail-type"]).toBe("CommandRejected");
  });
});
