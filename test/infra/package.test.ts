import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { LEASE_MS } from "../../functions/command-deps.ts";
import {
  aiTaskSettingsSchema,
  commandSettingsSchema,
  configSettingsSchema,
  priceSettingsSchema,
} from "../../functions/settings.ts";
import { EXPIRY_ATTRIBUTE, LEDGER_TABLE } from "../../lib/aws/ledger-table.ts";
import { readEnvironment } from "../../lib/lambda/settings.ts";
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

const COMMAND_FUNCTIONS = [
  {
    name: "run-commands",
    id: "RunDashcommandsLambdaFunction",
    settings: commandSettingsSchema,
    role: "RunCommandsRole",
    queue: "CommandQueue",
  },
  {
    name: "poll-tasks",
    id: "PollDashtasksLambdaFunction",
    settings: commandSettingsSchema,
    role: "PollTasksRole",
    queue: "WakeQueue",
  },
] as const;

const FUNCTIONS = [
  ...COMMAND_FUNCTIONS,
  {
    name: "sync-thresholds",
    id: "SyncDashthresholdsLambdaFunction",
    settings: configSettingsSchema,
    role: "SyncThresholdsRole",
  },
  {
    name: "snapshot-prices",
    id: "SnapshotDashpricesLambdaFunction",
    settings: priceSettingsSchema,
    role: "SnapshotPricesRole",
  },
  {
    name: "watch-ai-tasks",
    id: "WatchDashaiDashtasksLambdaFunction",
    settings: aiTaskSettingsSchema,
    role: "WatchAiTasksRole",
  },
] as const;

const namesOf = (settings: z.ZodObject): readonly string[] => Object.keys(settings.shape);

/** Of those without a default. */
const requiredNamesOf = (settings: z.ZodObject): readonly string[] =>
  namesOf(settings).filter((name) => !z.safeParse(settings.shape[name], undefined).success);

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

const timesOf = (id: string) => {
  const { timeoutMs, variables } = functionOf(id);
  const clock = createVirtualClock();
  const context = lambdaContext("test", timeoutMs, { clock, random: createSeededRandom(1) });
  const budgetMs = startTimeBudget(context, clock).endsAt - clock.now();
  return { timeoutMs, budgetMs, attemptMs: Number(variables.ATTEMPT_TIMEOUT_MS) };
};

test("the lease of a command outlives the function that holds it", () => {
  expect(LEASE_MS).toBeGreaterThan(functionOf("RunDashcommandsLambdaFunction").timeoutMs);
});

describe.each(FUNCTIONS)("the package of $name", ({ name, id, settings }) => {
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
    expect(message?.match(/[A-Z_]+(?= \()/g)).toEqual(requiredNamesOf(settings));
    expect(trace.join("\n")).toContain(join("lib", "lambda", "settings.ts"));
  });
});

describe.each(FUNCTIONS)("the function $name", ({ id, settings }) => {
  test("runs on the current Node runtime, on arm64", () => {
    expect(resource(id).Properties).toMatchObject({
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
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
        // What stands behind a reference is known only after a deploy; the URLs are queues.
        typeof value === "string" ? value : "https://sqs.eu-central-1.amazonaws.com/1/queue",
      ]),
    );

    expect(() => readEnvironment(settings, variables)).not.toThrow();
  });

  test("has a time for one attempt < for new work < for the run", () => {
    const { attemptMs, budgetMs, timeoutMs } = timesOf(id);

    expect(attemptMs).toBeLessThan(budgetMs);
    expect(budgetMs).toBeLessThan(timeoutMs);
  });
});

describe.each(COMMAND_FUNCTIONS)("the function $name", ({ id, queue }) => {
  test("may be part of a loop through the queues", () => {
    expect(resource(id).Properties).toMatchObject({ RecursiveLoop: "Allow" });
  });

  test("has a time for the run ≤ visibility / 6", () => {
    const visibilityMs = Number(resource(queue).Properties.VisibilityTimeout) * 1000;

    expect(timesOf(id).timeoutMs).toBeLessThanOrEqual(visibilityMs / 6);
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

describe("schedules", () => {
  test.each([
    ["PollSchedule", "poll-tasks", "PollDashtasksLambdaFunction", "rate(1 minute)", 60],
    ["DriftSchedule", "threshold-drift", "SyncDashthresholdsLambdaFunction", "rate(1 hour)", 1_800],
    [
      "PriceSchedule",
      "price-snapshot",
      "SnapshotDashpricesLambdaFunction",
      "cron(30 * * * ? *)",
      1_200,
    ],
    ["AiTaskSchedule", "ai-tasks", "WatchDashaiDashtasksLambdaFunction", "rate(1 minute)", 60],
  ])("%s calls its function, tries again for a while, then keeps the tick", (...expected) => {
    const [id, thing, target, expression, maxAgeSeconds] = expected;

    expect(resource(id)).toEqual({
      Type: "AWS::Scheduler::Schedule",
      Properties: {
        Name: `skyhook-dev-${thing}`,
        ScheduleExpression: expression,
        FlexibleTimeWindow: { Mode: "OFF" },
        Target: {
          Arn: arn(target),
          RoleArn: arn(`${id}Role`),
          RetryPolicy: { MaximumEventAgeInSeconds: maxAgeSeconds, MaximumRetryAttempts: 2 },
          DeadLetterConfig: { Arn: arn("ScheduleDeadLetter") },
        },
      },
    });
  });

  test.each([
    ["PollDashtasksLambdaEvConf", 0, 60],
    ["SyncDashthresholdsLambdaEvConf", 2, 3_600],
    ["SnapshotDashpricesLambdaEvConf", 2, 1_200],
    ["WatchDashaiDashtasksLambdaEvConf", 0, 60],
  ])("%s says how often a failed run is tried again", (id, attempts, ageSeconds) => {
    expect(resource(id).Properties).toMatchObject({
      MaximumRetryAttempts: attempts,
      MaximumEventAgeInSeconds: ageSeconds,
    });
  });

  test.each(["SyncDashthresholdsLambdaEvConf", "SnapshotDashpricesLambdaEvConf"])(
    "%s keeps the call that failed at every retry",
    (id) => {
      expect(resource(id).Properties.DestinationConfig).toEqual({
        OnFailure: { Destination: arn("ScheduleDeadLetter") },
      });
    },
  );

  test("take prices once in each period that a run is known by, in its middle", () => {
    const { variables } = functionOf("SnapshotDashpricesLambdaFunction");

    expect(variables.PERIOD_SECONDS).toBe("3600");
  });
});

describe("configs", () => {
  test("are in a bucket of versions that nobody else reads, and that stays", () => {
    expect(resource("ConfigBucket")).toMatchObject({
      DeletionPolicy: "Retain",
      UpdateReplacePolicy: "Retain",
      Properties: {
        VersioningConfiguration: { Status: "Enabled" },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: true } },
      },
    });
  });

  test("have their bucket's name in an output, and no other output is ours", () => {
    const ours = Object.keys(packaged.outputs).filter((id) => !/^Serverless|Qualified/.test(id));

    expect(ours).toEqual(["ConfigBucketName"]);
    expect(packaged.outputs.ConfigBucketName).toMatchObject({ Value: { Ref: "ConfigBucket" } });
  });

  test("call sync-thresholds when its own one is written, and no other", () => {
    const { Properties } = resource("ThresholdsWritten");
    const { variables } = functionOf("SyncDashthresholdsLambdaFunction");

    expect(Properties.EventPattern).toEqual({
      source: ["aws.s3"],
      "detail-type": ["Object Created"],
      detail: {
        bucket: { name: [variables.CONFIG_BUCKET] },
        object: { key: [variables.CONFIG_KEY] },
      },
    });
    expect(Properties.Targets).toEqual([
      {
        Id: "sync-thresholds",
        Arn: arn("SyncDashthresholdsLambdaFunction"),
        RetryPolicy: { MaximumEventAgeInSeconds: 3_600, MaximumRetryAttempts: 10 },
        DeadLetterConfig: { Arn: arn("ScheduleDeadLetter") },
      },
    ]);
    // Without a bus: S3 tells the default one.
    expect(Properties).not.toHaveProperty("EventBusName");
  });
});

describe("queues", () => {
  test("are two with a dead-letter queue each, and one for what calls functions", () => {
    expect(ofType("AWS::SQS::Queue").map(([id]) => id)).toEqual([
      "CommandQueue",
      "CommandDeadLetter",
      "WakeQueue",
      "WakeDeadLetter",
      "ScheduleDeadLetter",
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

  test("come from roles, but for the one event from outside: S3's, and its dead letters", () => {
    const policies = Object.entries(packaged.resources).filter(([, { Type }]) =>
      /Polic|Permission/.test(Type),
    );

    // The first is osls's: it denies access to the deployment bucket without TLS.
    expect(policies.map(([id]) => id)).toEqual([
      "ServerlessDeploymentBucketPolicy",
      "ThresholdsWrittenPermission",
      "ScheduleDeadLetterPolicy",
    ]);
    expect(resource("ThresholdsWrittenPermission").Properties).toEqual({
      Action: "lambda:InvokeFunction",
      FunctionName: arn("SyncDashthresholdsLambdaFunction"),
      Principal: "events.amazonaws.com",
      SourceArn: arn("ThresholdsWritten"),
    });
    expect(resource("ScheduleDeadLetterPolicy").Properties).toEqual({
      Queues: [{ Ref: "ScheduleDeadLetter" }],
      PolicyDocument: {
        Version: "2012-10-17",
        Statement: [
          {
            Effect: "Allow",
            Principal: { Service: "events.amazonaws.com" },
            Action: "sqs:SendMessage",
            Resource: arn("ScheduleDeadLetter"),
            Condition: { ArnEquals: { "aws:SourceArn": arn("ThresholdsWritten") } },
          },
        ],
      },
    });
  });

  test("belong to one role for each function", () => {
    for (const { id, role } of FUNCTIONS) {
      expect(resource(id).Properties.Role).toEqual(arn(role));
    }
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
    "skyhook-dev-sync-thresholds",
    "skyhook-dev-snapshot-prices",
    "skyhook-dev-watch-ai-tasks",
    "skyhook-dev-commands.fifo",
    "skyhook-dev-commands-dead-letter.fifo",
    "skyhook-dev-wake",
    "skyhook-dev-wake-dead-letter",
    "skyhook-dev-schedule-dead-letter",
    "skyhook-dev-events",
    "skyhook-dev-ledger",
    "skyhook-dev-thresholds-written",
    "skyhook-dev-poll-tasks",
    "skyhook-dev-threshold-drift",
    "skyhook-dev-price-snapshot",
    "skyhook-dev-ai-tasks",
  ]);
});
