import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, parse, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type BuildOptions, build, type Metafile } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { EXPIRY_ATTRIBUTE, LEDGER_TABLE } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import { deployment } from "../../../lib/platform/deployment.ts";
import { readEnvironment } from "../../../lib/platform/lambda/settings.ts";
import { testAcrossAccounts } from "./package/across-accounts.ts";
import { testAlarms } from "./package/alarms.ts";
import { testCliPackager } from "./package/cli-packager.ts";
import { testDashboard } from "./package/dashboard.ts";
import { COMMAND_FUNCTIONS, FUNCTIONS } from "./package/functions.ts";
import { testJobKeys } from "./package/job-keys.ts";
import { testKeptData } from "./package/kept-data.ts";
import { testKillSwitch } from "./package/kill-switch.ts";
import { testLimits } from "./package/limits.ts";
import { testMetricNames } from "./package/metric-names.ts";
import { testNumbers } from "./package/numbers.ts";
import { testOtherStage } from "./package/other-stage.ts";
import { testPermissions } from "./package/permissions.ts";
import { testQueues } from "./package/queues.ts";
import { testRefusedFiles } from "./package/refused-files.ts";
import { testTimeouts } from "./package/timeouts.ts";
import { testTriggers } from "./package/triggers.ts";
import { FIRST, type PackagedService, packageService } from "./packaged-service.ts";
import { createTemplateReader } from "./template-reader.ts";

/*
 * The output of `npm run package`, as AWS receives it. Packaging takes seconds, so this file packages once for all
 * the tests in package/.
 */

/** A variable that Lambda sets. */
const LAMBDAS_OWN = "LAMBDA_TASK_ROOT";

const DAY_SECONDS = 24 * 3_600;

const namesOf = (settings: z.ZodObject): readonly string[] =>
  Object.keys(settings.shape).filter((name) => name !== LAMBDAS_OWN);

/** Names of settings without a default. */
const requiredNamesOf = (settings: z.ZodObject): readonly string[] =>
  namesOf(settings).filter((name) => !z.safeParse(settings.shape[name], undefined).success);

const { FUNCTIONS: BUNDLES }: { FUNCTIONS: BuildOptions } = await import(
  /* @vite-ignore */ pathToFileURL(resolve("infra/bundling.mjs")).href
);

let packaged: PackagedService;
/** What esbuild says about the bundles of all functions. */
let bundles: Metafile;
const template = createTemplateReader(() => packaged);
const { resource, ofType, functionOf } = template;

// Takes 5 s alone, and longer while tests of other files run.
beforeAll(async () => {
  packaged = await packageService();
  const outdir = resolve("dist/functions");
  ({ metafile: bundles } = await build({ ...BUNDLES, outdir, write: false, metafile: true }));
});
afterAll(() => packaged.remove());

describe.each(FUNCTIONS)("the package of $name", ({ name, id, settings }) => {
  test("contains the function's bundle with source map and notices, and the configs of its variables", async () => {
    const files = await packaged.filesOf(name);
    const { ACCOUNTS_FILE, REACTIONS_FILE } = functionOf(id).variables;
    const configs = [ACCOUNTS_FILE, REACTIONS_FILE].filter((file) => file !== undefined);

    expect([...files.keys()].toSorted()).toEqual([
      ...configs,
      `dist/functions/${name}/THIRD-PARTY-NOTICES.txt`,
      `dist/functions/${name}/handler.mjs`,
      `dist/functions/${name}/handler.mjs.map`,
    ]);
  });

  test("names every package of its bundle in the notices", async () => {
    const files = await packaged.filesOf(name);
    const notices = String(files.get(`dist/functions/${name}/THIRD-PARTY-NOTICES.txt`));
    const inputs = bundles.outputs[`dist/functions/${name}/handler.mjs`]?.inputs ?? {};
    const bundled = Object.entries(inputs).flatMap(([file, { bytesInOutput }]) =>
      bytesInOutput > 0 ? (/^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []) : [],
    );

    const noticed = [...notices.matchAll(/^(\S+) \d+\.\d+\.\d+ \(.+\)$/gm)].map(([, id]) => id);
    expect(bundled).toContain("zod");
    expect(noticed.toSorted()).toEqual([...new Set(bundled)].toSorted());
  });

  test("loads without installed packages, and reports each missing setting with the source file", async () => {
    const { dir, name: file, ext } = parse(z.string().parse(resource(id).Properties.Handler));
    const bundle = pathToFileURL(join(packaged.directory, dir, `${file}.mjs`));
    const invoke = `const exported = await import(${JSON.stringify(bundle)});
      await exported[${JSON.stringify(ext.slice(1))}]({ Records: [] }, { getRemainingTimeInMillis: () => 30_000 }).then(
        () => process.stdout.write("no error"), (error) => process.stdout.write(error.stack));`;
    const env = { NODE_OPTIONS: String(functionOf(id).variables.NODE_OPTIONS) };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "--eval", invoke],
      { cwd: packaged.directory, env },
    );

    const [message, ...trace] = stdout.split("\n");
    expect(message).toMatch(/^SettingsError: wrong settings: /);
    expect(message?.match(/[A-Z_]+(?= \()/g)).toEqual(requiredNamesOf(settings));
    expect(trace.join("\n")).toContain(join("lib", "platform", "lambda", "settings.ts"));
  });
});

describe.each(FUNCTIONS)("the function $name", ({ id, settings }) => {
  test("runs on the current Node runtime, on arm64, with the same memory as all functions", () => {
    expect(resource(id).Properties).toMatchObject({
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
      MemorySize: deployment.memoryMegabytes,
    });
  });

  test("gets every setting that it reads and no other variable but Node's options", () => {
    const { NODE_OPTIONS, ...variables } = functionOf(id).variables;

    expect(Object.keys(variables).sort()).toEqual(namesOf(settings).toSorted());
    expect(NODE_OPTIONS).toBe("--enable-source-maps");
  });

  test("gets settings that it accepts", () => {
    const variables = Object.fromEntries(
      Object.entries(functionOf(id).variables).map(([setting, value]) => [
        setting,
        // The value of a reference is known only after a deployment. All URLs are those of queues.
        typeof value === "string" ? value : "https://sqs.eu-central-1.amazonaws.com/1/queue",
      ]),
    );

    expect(() => readEnvironment(settings, variables)).not.toThrow();
  });
});

test.each(COMMAND_FUNCTIONS)(
  "$name may be part of a recursive loop through the queues",
  ({ id }) => {
    expect(resource(id).Properties).toMatchObject({ RecursiveLoop: "Allow" });
  },
);

test("no function reserves concurrency: the whole quota of a new AWS account may be ten", () => {
  const reserved = FUNCTIONS.filter(
    ({ id }) => typeof resource(id).Properties.ReservedConcurrentExecutions === "number",
  );

  expect(reserved).toEqual([]);
});

test("the packaged configs are the files of the stage, as JSON with the same keys", async () => {
  const files = await packaged.filesOf("intake");
  const jsonOf = (name: string): unknown => JSON.parse(String(files.get(name)));

  expect(jsonOf("dist/config/accounts.json")).toMatchObject({
    accounts: [{ name: "main", api_key: { parameter: "/skyhook/dev/api-key" } }],
    aws_accounts: [{ id: "111122223333" }],
  });
  expect(jsonOf("dist/config/reactions.json")).toMatchObject({
    reactions: [{ name: "resume-paid-instance", deadline: "30m" }, { bus: "default" }],
  });
});

test("the stack has tags that name Skyhook and the stage", async () => {
  const file = join(packaged.directory, FIRST, "serverless-state.json");
  const stateSchema = z.object({
    service: z.object({ provider: z.object({ stackTags: z.unknown() }) }),
  });

  const { service } = stateSchema.parse(JSON.parse(await readFile(file, "utf8")));

  expect(service.provider.stackTags).toEqual({ Application: "skyhook", STAGE: "dev" });
});

testTriggers(template, () => packaged);
testQueues(template);
testPermissions(template);
testJobKeys(template);
testNumbers(template);
testTimeouts(template);
testKeptData(template);
testKillSwitch(template, () => packaged);
testAlarms(template);
testDashboard(template);
testMetricNames(template);
testAcrossAccounts(template);
testOtherStage(() => packaged);
testLimits(() => packaged);
testRefusedFiles(() => packaged);
testCliPackager(() => packaged);

test("the ledger's table equals the adapter's description, and is encrypted and restorable", () => {
  expect(resource("LedgerTable").Properties).toEqual({
    TableName: "skyhook-dev-ledger",
    ...LEDGER_TABLE,
    DeletionProtectionEnabled: true,
    TimeToLiveSpecification: { AttributeName: EXPIRY_ATTRIBUTE, Enabled: true },
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    SSESpecification: { SSEEnabled: true },
  });
});

test("the ledger's table outlives its stack and its replacement, also in the stage dev", () => {
  expect(resource("LedgerTable")).toMatchObject({
    DeletionPolicy: "Retain",
    UpdateReplacePolicy: "Retain",
    // The name is a literal, so CloudFormation can import the existing table.
    Properties: { TableName: "skyhook-dev-ledger", DeletionProtectionEnabled: true },
  });
});

test("log lines are kept longer than dead letters", () => {
  for (const [, { Properties }] of ofType("AWS::Logs::LogGroup")) {
    expect(Properties.RetentionInDays).toBe(deployment.logRetentionDays);
  }
  expect(ofType("AWS::Logs::LogGroup")).toHaveLength(FUNCTIONS.length);
  expect(deployment.logRetentionDays * DAY_SECONDS).toBeGreaterThan(
    deployment.deadLetterRetentionSeconds,
  );
});

/** Properties of CloudFormation with the name of a resource. */
const NAME_FIELDS = ["FunctionName", "QueueName", "TableName", "Name", "ArchiveName", "AlarmName"];

test("every resource with a name is called skyhook-<stage>-<thing>", () => {
  const names = Object.values(packaged.resources).flatMap(({ Properties }) =>
    NAME_FIELDS.flatMap((field) =>
      typeof Properties[field] === "string" ? [Properties[field]] : [],
    ),
  );

  expect(names).toEqual([
    "skyhook-dev-intake",
    "skyhook-dev-run-commands",
    "skyhook-dev-poll-tasks",
    "skyhook-dev-sync-thresholds",
    "skyhook-dev-snapshot-prices",
    "skyhook-dev-watch-ai-tasks",
    "skyhook-dev-commands.fifo",
    "skyhook-dev-commands-dead-letter.fifo",
    "skyhook-dev-wake",
    "skyhook-dev-wake-dead-letter",
    "skyhook-dev-requests",
    "skyhook-dev-requests-dead-letter",
    "skyhook-dev-intake-dead-letter",
    "skyhook-dev-subscriber-dead-letter",
    "skyhook-dev-schedule-dead-letter",
    "skyhook-dev-events",
    "skyhook-dev-outgoing",
    "skyhook-dev-commands-requested",
    "skyhook-dev-reaction-resume-paid-instance",
    "skyhook-dev-reaction-pause-policy-on-report",
    "skyhook-dev-subscriber-111122223333",
    "skyhook-dev-ledger",
    "skyhook-dev-thresholds-written",
    "skyhook-dev",
    "skyhook-dev-poll-tasks-tick",
    "skyhook-dev-threshold-drift-tick",
    "skyhook-dev-price-snapshot-tick",
    "skyhook-dev-ai-tasks-tick",
    "skyhook-dev-key-refused-main",
    "skyhook-dev-key-unreadable-main",
    "skyhook-dev-poller-silent",
    "skyhook-dev-due-entries-left",
    "skyhook-dev-ledger-lags",
    "skyhook-dev-thresholds-rejected",
    "skyhook-dev-watchlist-rejected",
    "skyhook-dev-commands-dead-letter",
    "skyhook-dev-wake-dead-letter",
    "skyhook-dev-requests-dead-letter",
    "skyhook-dev-intake-dead-letter",
    "skyhook-dev-subscriber-dead-letter",
    "skyhook-dev-schedule-dead-letter",
    "skyhook-dev-commands-waiting",
    "skyhook-dev-requests-waiting",
    "skyhook-dev-ledger-throttled",
    "skyhook-dev-intake-errors",
    "skyhook-dev-intake-throttles",
    "skyhook-dev-run-commands-errors",
    "skyhook-dev-run-commands-throttles",
    "skyhook-dev-poll-tasks-errors",
    "skyhook-dev-poll-tasks-throttles",
    "skyhook-dev-sync-thresholds-errors",
    "skyhook-dev-sync-thresholds-throttles",
    "skyhook-dev-snapshot-prices-errors",
    "skyhook-dev-snapshot-prices-throttles",
    "skyhook-dev-watch-ai-tasks-errors",
    "skyhook-dev-watch-ai-tasks-throttles",
    "skyhook-dev-task-past-deadline",
    "skyhook-dev-unknown-outcome",
    "skyhook-dev-dead-letters-lost-1",
  ]);
});
