import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { ruleNameOf } from "../../../../lib/intake/reaction.ts";
import type { PackagedService, Stage, Template } from "../packaged-service.ts";
import { arn, createTemplateReader, OWN_ACCOUNT } from "../template-reader.ts";

export const ACCOUNTS = `
accounts:
  - name: first
    base_url: https://first.example.com
    api_key: { parameter: /keys/first }
    senders: [own]
  - name: second
    base_url: https://second.example.com
    api_key: { parameter: /keys/second }
    senders: [own, "444455556666"]
aws_accounts:
  - id: "444455556666"
organization: o-abcde12345
`;

const LONG_NAME = "pull.again_when-thresholds-were-synced-and-changed";

const REACTIONS = `
reactions:
  - name: ${LONG_NAME}
    when: { source: [hook], detail-type: [ThresholdsSynced], detail: { data: { cause: [null, "$\{x}"] } } }
    account: second
    then:
      operation: update-policy
      params: { project_id: 1, region_id: 2, policy_id: 3 }
      body: { status: paused }
`;

export const PROD: Stage = {
  name: "prod",
  files: { "accounts.yaml": ACCOUNTS, "reactions.yaml": REACTIONS },
  params: {
    accountsFile: "accounts.yaml",
    reactionsFile: "reactions.yaml",
    jobAccount: "second",
    aiTaskName: "none",
    eventSource: "hook",
    alarmTopicArn: "arn:aws:sns:eu-central-1:444455556666:on-call",
    docsUrl: "https://git.example.com/skyhook/docs",
    intakeMaximumConcurrency: "1000",
    runCommandsMaximumConcurrency: "50",
    pollTasksMemory: "1769",
    dueShards: "3",
    running: "no",
  },
};

export const QUIET: Stage = {
  name: "quiet",
  files: { "accounts.yaml": ACCOUNTS, "reactions.yaml": "reactions: []\n" },
  params: {
    accountsFile: "accounts.yaml",
    reactionsFile: "reactions.yaml",
    monitoring: "no",
    aiTaskName: "transcription",
    fingerprintKeyParameter: "/keys/fingerprint",
    alarmTopicArn: "arn:aws:sns:eu-central-1:444455556666:on-call",
  },
};

const parameterSchema = z.object({ "Fn::Sub": z.string() });
const statementSchema = z.object({ Action: z.array(z.string()), Resource: z.unknown() });
const scheduleSchema = z.object({
  Target: z.object({ RoleArn: z.unknown(), Input: z.string() }),
});
const roleSchema = z.object({
  Policies: z.tuple([
    z.object({ PolicyDocument: z.object({ Statement: z.array(statementSchema) }) }),
  ]),
});

/** Changes of the template by the files and parameters of another stage. */
export const testOtherStage = (packaged: () => PackagedService): void => {
  let template: Template;
  const { resource, ofType, functionOf } = createTemplateReader(() => template);

  const keysOf = (role: string): readonly string[] =>
    roleSchema
      .parse(resource(role).Properties)
      .Policies[0].PolicyDocument.Statement.filter(({ Action }) =>
        Action.includes("ssm:GetParameter"),
      )
      .flatMap(({ Resource }) => z.array(parameterSchema).parse(Resource))
      .map((parameter) => parameter["Fn::Sub"].replace(/^.*:parameter/, ""));

  describe("another stage", () => {
    beforeAll(async () => {
      template = await packaged().templateOf(PROD);
    });

    test("allows AWS accounts of an organization to put events, but none with Skyhook's source", () => {
      expect(ofType("AWS::Events::EventBusPolicy").map(([id]) => id)).toEqual([
        "OnlyOurFunctionsMayPut",
        "AwsAccountsMayPut",
        "OrganizationMayPut",
      ]);
      expect(resource("OrganizationMayPut").Properties.Statement).toEqual({
        Effect: "Allow",
        Principal: "*",
        Action: "events:PutEvents",
        Resource: arn("EventBus"),
        Condition: {
          "ForAllValues:StringNotEquals": { "events:source": ["hook"] },
          Null: { "events:source": "false" },
          StringEquals: { "aws:PrincipalOrgID": "o-abcde12345" },
        },
      });
    });

    test("has no rule and no role for an AWS account without a bus", () => {
      const ids = Object.keys(template.resources).filter((id) => id.startsWith("Subscriber"));

      expect(ids.toSorted()).toEqual([
        "SubscriberDeadLetter",
        "SubscriberDeadLetterNotEmpty",
        "SubscriberDeadLetterPolicy",
      ]);
    });

    test("reacts to its own events only from its own AWS account, and to no replay", () => {
      const [reaction] = ofType("AWS::Events::Rule").filter(([id]) => id.startsWith("Reaction"));
      const { Properties } = reaction![1]; // the file has one

      expect(Properties.Name).toBe("skyhook-prod-reaction-pull.again_when-threshold-45b179ac");
      expect(Properties.Name).toBe(`skyhook-prod-reaction-${ruleNameOf(LONG_NAME)}`);
      expect(Properties.EventPattern).toEqual({
        "Fn::Join": [
          "",
          [
            '{"account":["',
            OWN_ACCOUNT,
            // Null and a dollar sign, which are not possible in an object of the template.
            '"],"replay-name":[{"exists":false}],"source":["hook"],"detail-type":["ThresholdsSynced"],"detail":{"data":{"cause":[null,"\\u0024{x}"]}}}',
          ],
        ],
      });
    });

    test("allows no rule of the default bus to send to intake, without a reaction on it", () => {
      const ids = ofType("AWS::Lambda::Permission").map(([id]) => id);

      expect(ids).toEqual(["RulesMayCallIntake", "ThresholdsWrittenPermission"]);
      expect(JSON.stringify(resource("RequestQueuePolicy").Properties)).not.toContain(
        "rule/skyhook-prod-reaction-",
      );
    });

    test("allows commands to read the API keys of all accounts, jobs that of one, and intake none", () => {
      const fingerprint = "/skyhook/prod/fingerprint-key";

      // One pattern for the stage's own parameters, including the fingerprint key; the others by name.
      const all = ["/skyhook/prod/*", "/keys/first", "/keys/second"];
      expect(keysOf("RunCommandsRole")).toEqual(all);
      expect(keysOf("PollTasksRole")).toEqual(all);
      expect(keysOf("SyncThresholdsRole")).toEqual(["/keys/second"]);
      expect(keysOf("SnapshotPricesRole")).toEqual(["/keys/second"]);
      expect(keysOf("WatchAiTasksRole")).toEqual(["/keys/second"]);
      expect(keysOf("IntakeRole")).toEqual([fingerprint]);
    });

    test("passes the job account to the scheduled jobs", () => {
      expect(functionOf("SyncDashthresholdsLambdaFunction").variables.JOB_ACCOUNT).toBe("second");
      expect(functionOf("SnapshotDashpricesLambdaFunction").variables.JOB_ACCOUNT).toBe("second");
      expect(functionOf("WatchDashaiDashtasksLambdaFunction").variables.JOB_ACCOUNT).toBe("second");
    });

    test("has no schedule and no alarm for the function of AI tasks, if it watches none", () => {
      const ids = Object.keys(template.resources).filter((id) => /AiTask|Aidashtask/i.test(id));

      expect(ids.filter((id) => /Tick|Fails|Throttled|Rule/.test(id))).toEqual([]);
      expect(functionOf("WatchDashaiDashtasksLambdaFunction").variables.AI_TASK_NAME).toBe("");
    });

    test("has the alarms of each account", () => {
      const names = ofType("AWS::CloudWatch::Alarm").map(
        ([, { Properties }]) => Properties.AlarmName,
      );

      expect(names.filter((name) => /-(first|second)$/.test(String(name)))).toEqual([
        "skyhook-prod-key-refused-first",
        "skyhook-prod-key-unreadable-first",
        "skyhook-prod-key-refused-second",
        "skyhook-prod-key-unreadable-second",
      ]);
    });

    test("has alarms that notify the topic when they fire, and when they end unless they report incidents", () => {
      const topic = ["arn:aws:sns:eu-central-1:444455556666:on-call"];
      const endless = ofType("AWS::CloudWatch::Alarm").filter(
        ([, { Properties }]) => !("OKActions" in Properties),
      );

      expect(endless.map(([id]) => id)).toEqual([
        "TaskPastDeadline",
        "UnknownOutcome",
        "DeadLettersLost1",
      ]);
      for (const [id, { Properties }] of ofType("AWS::CloudWatch::Alarm")) {
        expect(Properties.AlarmActions, id).toEqual(topic);
        expect(Properties.OKActions ?? topic, id).toEqual(topic);
      }
    });

    test("has alarms that link their runbooks below docsUrl", () => {
      expect(resource("PollerSilent").Properties.AlarmDescription).toMatch(
        / Runbook: https:\/\/git\.example\.com\/skyhook\/docs\/operate\/runbooks\/poller-silent\.md$/,
      );
    });

    test("has neither alarms nor a dashboard without monitoring", async () => {
      const { resources } = await packaged().templateOf(QUIET);
      const types = new Set(Object.values(resources).map(({ Type }) => Type));

      expect([...types].filter((type) => type.startsWith("AWS::CloudWatch"))).toEqual([]);
      expect(Object.keys(resources)).toContain("LedgerTable");
    });

    // CloudFormation identifies the resource by the id of its statement. It refuses an id that another stack of the
    // AWS account and region uses, even for another bus (aws-cdk issue 29627).
    test("has statement ids in its bus policy that differ from those of other stages", () => {
      const ids = ofType("AWS::Events::EventBusPolicy").map(
        ([, { Properties }]) => Properties.StatementId,
      );

      expect(ids.length).toBeGreaterThan(0);
      expect(ids.filter((id) => !String(id).startsWith("skyhook-prod-"))).toEqual([]);
    });

    test("is deployed stopped with running: no", () => {
      expect(template.parameters.Running?.Default).toBe("no");
    });

    test("has a schedule for each shard of the due index", () => {
      const inputs = ["PollTick", "PollTick1", "PollTick2"].map((id) => {
        const { Target } = scheduleSchema.parse(resource(id).Properties);
        expect(Target.RoleArn).toEqual({ "Fn::GetAtt": ["PollTickRole", "Arn"] });
        return JSON.parse(Target.Input);
      });

      expect(inputs.map(({ shard }) => shard)).toEqual([undefined, 1, 2]);
      expect(Object.keys(template.resources)).not.toContain("PollTick3");
      for (const name of ["RunDashcommands", "PollDashtasks"]) {
        expect(resource(`${name}LambdaFunction`).Properties).toMatchObject({
          Environment: { Variables: { DUE_SHARDS: "3" } },
        });
      }
    });

    test.each([
      ["poll-tasks", "PollDashtasksEventSourceMappingSQSWakeQueue", 4],
      ["intake", "IntakeEventSourceMappingSQSRequestQueue", 1_000],
      ["run-commands", "RunDashcommandsEventSourceMappingSQSCommandQueue", 50],
    ])("has the concurrency of %s from its parameter", (_name, mapping, concurrency) => {
      expect(resource(mapping).Properties).toMatchObject({
        ScalingConfig: { MaximumConcurrency: concurrency },
      });
    });

    test.each([
      ["PollDashtasks", 1_769],
      ["RunDashcommands", 512],
      ["Intake", 512],
    ])("has the memory of %s from its parameter, or that of all functions", (name, memory) => {
      expect(resource(`${name}LambdaFunction`).Properties).toMatchObject({ MemorySize: memory });
    });
  });
};
