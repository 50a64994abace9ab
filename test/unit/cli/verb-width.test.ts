import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createProgram } from "../../../lib/cli/program.ts";
import { COMMANDED, READS } from "../../../lib/contract/operations.ts";
import { performVerb } from "../../support/in-process-verb.ts";
import { type SkyhookProcess, startSkyhook } from "../../support/skyhook-process.ts";
import { openTerminal, tooWide, WIDTHS } from "./terminal.ts";

const LONG_ID = "nightly-scale-up-of-my-container-in-region-76-2026-01-31";
const ACCOUNT = "production-of-the-platform-team";

const { exitCode } = process;

afterEach(() => {
  // A verb sets the status with which the program ends.
  process.exitCode = exitCode;
});

/** Every command of the program, with its subcommands. */
const commandsOf = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(commandsOf),
];

/** A narrow terminal too: beside prose, a help has only examples to copy. */
describe.each([60, ...WIDTHS])("help at %i columns", (columns) => {
  it("of every verb fits", async () => {
    const terminal = openTerminal(columns);

    const commands = commandsOf(await createProgram(() => true));
    for (const command of commands) command.outputHelp();
    terminal.close();

    expect(commands.length).toBeGreaterThan(40);
    const isExample = (line: string): boolean => /^ {2}(?: {2})?npx /.test(line);
    expect(tooWide(terminal).filter((line) => !isExample(line))).toEqual([]);
  });
});

const FILES = {
  "accounts.yaml": `accounts: [{ name: ${ACCOUNT}, senders: [own] }]\n`,
  "reactions.yaml": `
reactions:
  - name: pause-the-policy-of-an-unpaid-invoice
    when: { source: [billing], detail: { policy: [{ exists: true }] } }
    account: ${ACCOUNT}
    then:
      operation: update-policy
      params: { project_id: 1234567, region_id: 76, policy_id: $.detail.policy }
      body: { status: paused, name: "the nightly snapshots of every volume of the platform team" }
`,
  "bad.yaml": "reactions:\n  - name: a\n    colour: red\n  - when: {}\n",
  "event.json": `{"source":"billing","detail-type":"InvoiceDue","account":"000000000000","detail":{"policy":1}}`,
  "thresholds.yaml": `
prune: true
thresholds:
  - { name: reaching_used_requests, storage_name: my-storage-of-the-platform-team, bucket_name: my-bucket-of-the-platform-team, count: 1000000 }
`,
  "watchlist.yaml": `
items:
  - { name: ddos-protection-of-the-platform-team-in-luxembourg, ddos: { region_id: 76 } }
  - { name: nowhere, ddos: { region_id: 5 } }
`,
};

describe("verbs of a running Skyhook", () => {
  let folder: string;
  let started: SkyhookProcess;
  let provider: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "skyhook-width-"));
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
    started = startSkyhook([
      ...["start", "--no-demo"],
      ...["accounts", "reactions", "thresholds", "watchlist"].flatMap((name) => [
        `--${name}`,
        join(folder, `${name}.yaml`),
      ]),
    ]);
    await started.printed("What can be sent");
    const endpoint = /listens at (\S+)/.exec(started.stderr())?.[1] ?? "none";
    const key = /SKYHOOK_API_KEY='([^']+)'/.exec(started.stderr())?.[1] ?? "none";
    provider = /SKYHOOK_BASE_URL=(\S+)/.exec(started.stderr())?.[1] ?? "none";
    vi.stubEnv("SKYHOOK_ENDPOINT", endpoint);
    vi.stubEnv("SKYHOOK_API_KEY", key);
    vi.stubEnv("SKYHOOK_BASE_URL", provider);
  });

  afterAll(async () => {
    vi.unstubAllEnvs();
    started.child.kill("SIGTERM");
    await started.ended();
    await rm(folder, { recursive: true });
  });

  const POLICY = ["--project-id", "1234567", "--region-id", "76", "--policy-id", "1"];
  const file = (name: keyof typeof FILES): string => join(folder, name);

  it.each(WIDTHS)(
    "fit %i columns",
    async (columns) => {
      const id = `${LONG_ID}-${columns}`;
      const verbs: readonly (readonly string[])[] = [
        ["send", "update-policy", ...POLICY, "--status", "paused", "--id", id, "--wait"],
        ["send", "update-policy", ...POLICY, "--status", "paused", "--id", `${id}-2`, "--dry-run"],
        ["send", "update-policy", ...POLICY, "--status", "some", "--body", '{"colour":1,"size":2}'],
        ["list"],
        ["list", "--limit", "1"],
        ["status", id],
        ["cancel", id],
        ["resolve", id, "--applied"],
        ["cancel", "--account", ACCOUNT],
        ["cancel", "--account", ACCOUNT, "--yes"],
        ["backfill-list"],
        ["lift-pause", ACCOUNT],
        ["lift-pause", "none"],
        ["run", "snapshot-prices"],
        ["run", "sync-thresholds"],
        ["run", "watch-ai-tasks"],
        ["prices", "list"],
        ["prices", "history", "ddos-protection-of-the-platform-team-in-luxembourg"],
        ["prices", "history", "some"],
        ["prices", "changes", "--since", "1d"],
        ["dead-letters"],
        ["redrive", "--all"],
        ["redrive"],
        ["reactions", "check", file("reactions.yaml"), "--accounts", file("accounts.yaml")],
        ["reactions", "check", file("bad.yaml")],
        ...["event.json"].map((name) => [
          ...["reactions", "test", "pause-the-policy-of-an-unpaid-invoice", join(folder, name)],
          ...["--reactions", file("reactions.yaml"), "--accounts", file("accounts.yaml")],
        ]),
        ["put-event", file("event.json")],
        ["thresholds", "plan", file("thresholds.yaml")],
        ["thresholds", "apply", file("thresholds.yaml"), "--yes"],
        ["thresholds", "pull"],
        ["read", "get-policy", ...POLICY],
        ["read", "list-tasks"],
        ["operations"],
        ...[...COMMANDED, ...READS].map((operation) => ["operations", operation.id]),
        ["operations", "none"],
        ["list", "--status", "none"],
        ["list", "--colour", "red"],
        ["list", "--since", "yesterday"],
        ["status"],
        ["status", "none"],
        ["list", "--endpoint", "http://127.0.0.1:1"],
        ["list", "--stage", "-"],
      ];
      const found: string[] = [];
      for (const args of verbs) {
        const terminal = openTerminal(columns);
        await performVerb(args);
        terminal.close();
        if (terminal.text() === "") found.push(`${args.join(" ")}: no output`);
        found.push(...tooWide(terminal).map((line) => `${args.join(" ")}: ${line}`));
      }

      expect(found).toEqual([]);
    },
    60_000,
  );
});
