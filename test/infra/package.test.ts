import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { LEASE_MS } from "../../functions/command-deps.ts";
import { functionSettingsSchema } from "../../functions/settings.ts";
import { EXPIRY_ATTRIBUTE, LEDGER_TABLE } from "../../lib/aws/ledger-table.ts";
import { startTimeBudget } from "../../lib/lambda/time-budget.ts";
import { lambdaContext } from "../../lib/local/lambda-context.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";
import { type PackagedService, packageService, type Resource } from "./packaged-service.ts";
import { STATEMENTS, TRUST } from "./statements.ts";

/*
 * What `npm run package` makes, read as AWS would get it. One file, although long: packaging takes
 * seconds, and everything here looks at the same package.
 */

const FUNCTIONS = [
  { name: "run-commands", id: "RunDashcommandsLambdaFunction", queue: "CommandQueue" },
  { name: "poll-tasks", id: "PollDashtasksLambdaFunction", queue: "WakeQueue" },
] as const;

let packaged: PackagedService;

// Takes 5 s alone; tests of other files run beside it.
beforeAll(async () => {
  packaged = await packageService();
}, 90_000);
afterAll(() => packaged.remove());

const resource = (id: string): Resource => {
  const found = packaged.resources[id];
  if (found === undefined) throw new Error(`no resource ${id} in the template`);
  return found;
};

const ofType = (type: string): readonly (readonly [id: string, resource: Resource])[] =>
  Object.entries(packaged.resources).filter(([, { Type }]) => Type === type);

const arn = (id: string) => ({ "Fn::GetAtt": [id, "Arn"] });

const functionSchema = z.object({
  Timeout: z.number(),
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
});

const functionOf = (id: string) => {
  const { Timeout, Environment } = functionSchema.parse(resource(id).Properties);
  return { timeoutMs: Timeout * 1000, variables: Environment.Variables };
};

test("the lease of a command outlives the function that holds it", () => {
  expect(LEASE_MS).toBeGreaterThan(functionOf("RunDashcommandsLambdaFunction").timeoutMs);
});

describe.each(FUNCTIONS)("the package of $name", ({ name, id }) => {
  test("holds only the function's own bundle and its source map", async () => {
    expect(await packaged.filesOf(name)).toEqual([
      `dist/functions/${name}/handler.mjs`,
      `dist/functions/${name}/handler.mjs.map`,
    ]);
  });

  test("loads where nothing is installed, and names each missing setting and our source file", async () => {
    const bundle = join(packaged.directory, "dist", "functions", name, "handler.mjs");
    const invoke = `const { handler } = await import(${JSON.stringify(pathToFileURL(bundle))});
      await handler({ Records: [] }, { getRemainingTimeInMillis: () => 30_000 }).then(
        () => process.stdout.write("no error"), (error) => process.stdout.write(error.stack));`;
    const env = { NODE_OPTIONS: String(functionOf(id).variables.NODE_OPTIONS) };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "--eval", invoke],
      { cwd: packaged.directory, env },
    );

    const [message, ...trace] = stdout.split("\n");
    expect(message).toMatch(/^SettingsError: wrong settings: /);
    expect(message?.match(/[A-Z_]+(?= \()/g)).toEqual(Object.keys(functionSettingsSchema.shape));
    expect(trace.join("\n")).toContain(join("lib", "lambda", "settings.ts"));
  });
});

describe.each(FUNCTIONS)("the function $name", ({ id, queue }) => {
  test("runs on the current Node runtime, on arm64", () => {
    expect(resource(id).Properties).toMatchObject({
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
    });
  });

  test("may be part of a loop through the queues", () => {
    expect(resource(id).Properties).toMatchObject({ RecursiveLoop: "Allow" });
  });

  test("gets every setting that it reads and no other variable but Node's options", () => {
    const { NODE_OPTIONS, ...settings } = functionOf(id).variables;

    expect(Object.keys(settings).sort()).toEqual(Object.keys(functionSettingsSchema.shape).sort());
    expect(NODE_OPTIONS).toBe("--enable-source-maps");
  });

  test("gets settings that it accepts", () => {
    const settings = Object.fromEntries(
      Object.entries(functionOf(id).variables).map(([setting, value]) => [
        setting,
        // What stands behind a reference is known only after a deploy; the URLs are queues.
        typeof value === "string" ? value : "https://sqs.eu-central-1.amazonaws.com/1/queue",
      ]),
    );

    expect(functionSettingsSchema.safeParse(settings).error).toBeUndefined();
  });

  test("has a time for one attempt < for new work < for the run ≤ visibility / 6", () => {
    const { timeoutMs, variables } = functionOf(id);
    const clock = createVirtualClock();
    const context = lambdaContext("test", timeoutMs, { clock, random: createSeededRandom(1) });
    const budgetMs = startTimeBudget(context, clock).endsAt - clock.now();
    const attemptMs = Number(variables.ATTEMPT_TIMEOUT_MS);
    const visibilityMs = Number(resource(queue).Properties.VisibilityTimeout) * 1000;

    expect(attemptMs).toBeLessThan(budgetMs);
    expect(budgetMs).toBeLessThan(timeoutMs);
    expect(timeoutMs).toBeLessThanOrEqual(visibilityMs / 6);
  });
});

test("run-commands takes ten messages at once and reports each failed one", () => {
  expect(resource("RunDashcommandsEventSourceMappingSQSCommandQueue").Properties).toMatchObject({
    EventSourceArn: arn("CommandQueue"),
    BatchSize: 10,
    FunctionResponseTypes: ["ReportBatchItemFailures"],
    ScalingConfig: { MaximumConcurrency: 10 },
  });
});

test("a burst of wakes runs poll-tasks at most twice side by side", () => {
  expect(resource("PollDashtasksEventSourceMappingSQSWakeQueue").Properties).toMatchObject({
    EventSourceArn: arn("WakeQueue"),
    BatchSize: 10,
    ScalingConfig: { MaximumConcurrency: 2 },
  });
});

test("the schedule calls poll-tasks every minute, tries again for a minute, then keeps the tick", () => {
  expect(resource("PollSchedule")).toEqual({
    Type: "AWS::Scheduler::Schedule",
    Properties: {
      Name: "skyhook-dev-poll-tasks",
      ScheduleExpression: "rate(1 minute)",
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: {
        Arn: arn("PollDashtasksLambdaFunction"),
        RoleArn: arn("PollScheduleRole"),
        RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 2 },
        DeadLetterConfig: { Arn: arn("PollScheduleDeadLetter") },
      },
    },
  });
  expect(resource("PollDashtasksLambdaEvConf").Properties).toMatchObject({
    MaximumRetryAttempts: 0,
    MaximumEventAgeInSeconds: 60,
  });
});

describe("queues", () => {
  test("are two with a dead-letter queue each, and one for the schedule", () => {
    expect(ofType("AWS::SQS::Queue").map(([id]) => id)).toEqual([
      "CommandQueue",
      "CommandDeadLetter",
      "WakeQueue",
      "WakeDeadLetter",
      "PollScheduleDeadLetter",
    ]);
  });

  test.each([
    { queue: "CommandQueue", deadLetter: "CommandDeadLetter", receives: 10 },
    { queue: "WakeQueue", deadLetter: "WakeDeadLetter", receives: 3 },
  ])("$queue gives a message up only after all receives, and before it expires", (expected) => {
    const { Properties } = resource(expected.queue);

    expect(Properties.RedrivePolicy).toEqual({
      deadLetterTargetArn: arn(expected.deadLetter),
      maxReceiveCount: expected.receives,
    });
    expect(Properties.MessageRetentionPeriod).toBeGreaterThan(
      expected.receives * Number(Properties.VisibilityTimeout),
    );
  });

  test("keep dead letters for the 14 days that SQS allows, FIFO behind FIFO", () => {
    const deadLetters = ofType("AWS::SQS::Queue").filter(([id]) => id.endsWith("DeadLetter"));

    for (const [id, { Properties }] of deadLetters) {
      expect(Properties.MessageRetentionPeriod).toBe(1_209_600);
      expect(Properties.FifoQueue).toBe(id === "CommandDeadLetter" ? true : undefined);
    }
  });

  test("are encrypted", () => {
    for (const [, { Properties }] of ofType("AWS::SQS::Queue")) {
      expect(Properties.SqsManagedSseEnabled).toBe(true);
    }
  });

  test("let the sender of a command, not its content, decide what is a repetition", () => {
    expect(resource("CommandQueue").Properties).toMatchObject({
      FifoQueue: true,
      ContentBasedDeduplication: false,
    });
  });
});

test("the ledger's table is the one that the ledger's adapter describes, and is kept safe", () => {
  expect(resource("LedgerTable").Properties).toEqual({
    TableName: "skyhook-dev-ledger",
    ...LEDGER_TABLE,
    TimeToLiveSpecification: { AttributeName: EXPIRY_ATTRIBUTE, Enabled: true },
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    SSESpecification: { SSEEnabled: true },
  });
});

describe("permissions", () => {
  const roleSchema = z.strictObject({
    AssumeRolePolicyDocument: z.object({ Statement: z.array(z.unknown()) }),
    Policies: z.tuple([
      z.object({ PolicyDocument: z.object({ Statement: z.array(z.unknown()) }) }),
    ]),
  });

  const rolesOf = () =>
    ofType("AWS::IAM::Role").map(
      ([id, { Properties }]) => [id, roleSchema.parse(Properties)] as const,
    );

  test("are these statements and no others", () => {
    const statements = Object.fromEntries(
      rolesOf().map(([id, role]) => [id, role.Policies[0].PolicyDocument.Statement]),
    );

    expect(statements).toEqual(STATEMENTS);
  });

  test("are taken by the service that each role is made for", () => {
    const trust = Object.fromEntries(
      rolesOf().map(([id, role]) => [id, role.AssumeRolePolicyDocument.Statement]),
    );

    expect(trust).toEqual(TRUST);
  });

  test("come from roles only: no resource has a policy that lets anybody in", () => {
    const policies = Object.entries(packaged.resources).filter(([, { Type }]) =>
      /Polic|Permission/.test(Type),
    );

    // The one that osls makes: it denies access to the deployment bucket without TLS.
    expect(policies.map(([id]) => id)).toEqual(["ServerlessDeploymentBucketPolicy"]);
  });

  test("belong to one role for each function", () => {
    expect(FUNCTIONS.map(({ id }) => resource(id).Properties.Role)).toEqual([
      arn("RunCommandsRole"),
      arn("PollTasksRole"),
    ]);
  });
});

test("log lines stay longer than dead letters", () => {
  for (const [, { Properties }] of ofType("AWS::Logs::LogGroup")) {
    expect(Properties.RetentionInDays).toBe(30);
  }
  expect(ofType("AWS::Logs::LogGroup")).toHaveLength(FUNCTIONS.length);
});

test("everything with a name is called skyhook-<stage>-<thing>", () => {
  const names = Object.values(packaged.resources).flatMap(({ Properties }) =>
    ["FunctionName", "QueueName", "TableName", "Name"].flatMap((field) =>
      typeof Properties[field] === "string" ? [Properties[field]] : [],
    ),
  );

  expect(names).toEqual([
    "skyhook-dev-run-commands",
    "skyhook-dev-poll-tasks",
    "skyhook-dev-commands.fifo",
    "skyhook-dev-commands-dead-letter.fifo",
    "skyhook-dev-wake",
    "skyhook-dev-wake-dead-letter",
    "skyhook-dev-poll-schedule-dead-letter",
    "skyhook-dev-events",
    "skyhook-dev-ledger",
    "skyhook-dev-poll-tasks",
  ]);
});
