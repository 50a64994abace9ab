/** Every statement of every role, in full. */

const arn = (logicalId: string) => ({ "Fn::GetAtt": [logicalId, "Arn"] });
const parameter = (name: string) => ({
  "Fn::Sub": `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter${name}`,
});

const object = (key: string) => ({
  "Fn::Sub": [`\${bucket}/${key}`, { bucket: arn("ConfigBucket") }],
});

const logs = (logGroup: string) => ({
  Effect: "Allow",
  Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
  Resource: [arn(logGroup)],
});

/** Statements of a scheduled job, without those for its config. */
const job = (...ownItems: readonly string[]) => [
  {
    Effect: "Allow",
    Action: ["dynamodb:GetItem", "dynamodb:PutItem"],
    Resource: [arn("LedgerTable")],
    Condition: {
      "ForAllValues:StringLike": { "dynamodb:LeadingKeys": [...ownItems, "budget#*", "due"] },
    },
  },
  { Effect: "Allow", Action: ["events:PutEvents"], Resource: [arn("EventBus")] },
  {
    Effect: "Allow",
    Action: ["ssm:GetParameter"],
    Resource: [parameter("/skyhook/dev/api-key")],
  },
];

const KEEP_FAILED = {
  Effect: "Allow",
  Action: ["sqs:SendMessage"],
  Resource: [arn("ScheduleDeadLetter")],
};

/** Statements of a schedule's role. */
const calls = (functionId: string) => [
  { Effect: "Allow", Action: ["lambda:InvokeFunction"], Resource: [arn(functionId)] },
  { Effect: "Allow", Action: ["sqs:SendMessage"], Resource: [arn("ScheduleDeadLetter")] },
];

export const STATEMENTS = {
  IntakeRole: [
    logs("IntakeLogGroup"),
    {
      Effect: "Allow",
      Action: ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
      Resource: [arn("RequestQueue")],
    },
    { Effect: "Allow", Action: ["dynamodb:GetItem"], Resource: [arn("LedgerTable")] },
    {
      Effect: "Allow",
      Action: ["dynamodb:PutItem"],
      Resource: [arn("LedgerTable")],
      Condition: {
        "ForAllValues:StringLike": {
          "dynamodb:LeadingKeys": ["rejection#*", "rejection-hour#*", "????-??-??#?"],
        },
      },
    },
    { Effect: "Allow", Action: ["sqs:SendMessage"], Resource: [arn("CommandQueue")] },
    { Effect: "Allow", Action: ["events:PutEvents"], Resource: [arn("EventBus")] },
    {
      Effect: "Allow",
      Action: ["ssm:GetParameter"],
      Resource: [parameter("/skyhook/dev/fingerprint-key")],
    },
    // For invocations that were in progress during an update; see across-accounts.ts.
    { Effect: "Allow", Action: ["sqs:SendMessage"], Resource: [arn("IntakeDeadLetter")] },
  ],
  Subscriber111122223333Role: [
    {
      Effect: "Allow",
      Action: ["events:PutEvents"],
      Resource: ["arn:aws:events:eu-central-1:111122223333:event-bus/skyhook-events"],
    },
  ],
  RunCommandsRole: [
    {
      Effect: "Allow",
      Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
      Resource: [arn("RunDashcommandsLogGroup")],
    },
    {
      Effect: "Allow",
      Action: ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
      Resource: [arn("CommandQueue")],
    },
    {
      Effect: "Allow",
      Action: ["dynamodb:GetItem", "dynamodb:PutItem"],
      Resource: [arn("LedgerTable")],
    },
    {
      Effect: "Allow",
      Action: ["sqs:SendMessage"],
      Resource: [arn("CommandQueue"), arn("WakeQueue")],
    },
    { Effect: "Allow", Action: ["events:PutEvents"], Resource: [arn("EventBus")] },
    {
      Effect: "Allow",
      Action: ["ssm:GetParameter"],
      Resource: [parameter("/skyhook/dev/*")],
    },
  ],
  PollTasksRole: [
    {
      Effect: "Allow",
      Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
      Resource: [arn("PollDashtasksLogGroup")],
    },
    {
      Effect: "Allow",
      Action: ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
      Resource: [arn("WakeQueue")],
    },
    {
      Effect: "Allow",
      Action: ["dynamodb:Query"],
      Resource: [{ "Fn::Sub": [`\${table}/index/due`, { table: arn("LedgerTable") }] }],
    },
    {
      Effect: "Allow",
      Action: ["dynamodb:GetItem", "dynamodb:PutItem"],
      Resource: [arn("LedgerTable")],
    },
    {
      Effect: "Allow",
      Action: ["sqs:SendMessage"],
      Resource: [arn("CommandQueue"), arn("WakeQueue")],
    },
    { Effect: "Allow", Action: ["events:PutEvents"], Resource: [arn("EventBus")] },
    {
      Effect: "Allow",
      Action: ["ssm:GetParameter"],
      Resource: [parameter("/skyhook/dev/*")],
    },
  ],
  SyncThresholdsRole: [
    logs("SyncDashthresholdsLogGroup"),
    { Effect: "Allow", Action: ["s3:GetObject"], Resource: [object("thresholds.yaml")] },
    { Effect: "Allow", Action: ["s3:ListBucket"], Resource: [arn("ConfigBucket")] },
    ...job("thresholds#*", "lease#sync-thresholds/*"),
    KEEP_FAILED,
  ],
  SnapshotPricesRole: [
    logs("SnapshotDashpricesLogGroup"),
    { Effect: "Allow", Action: ["s3:GetObject"], Resource: [object("watchlist.yaml")] },
    { Effect: "Allow", Action: ["s3:ListBucket"], Resource: [arn("ConfigBucket")] },
    ...job("price#*", "price-reading#*", "price-run#*", "price-names#*"),
    KEEP_FAILED,
  ],
  WatchAiTasksRole: [
    logs("WatchDashaiDashtasksLogGroup"),
    ...job("ai-task#*", "ai-watch#*", "lease#watch-ai-tasks/*"),
  ],
  PollTickRole: calls("PollDashtasksLambdaFunction"),
  DriftTickRole: calls("SyncDashthresholdsLambdaFunction"),
  PriceTickRole: calls("SnapshotDashpricesLambdaFunction"),
  AiTaskTickRole: calls("WatchDashaiDashtasksLambdaFunction"),
};

const trust = (service: string) => ({
  Effect: "Allow",
  Principal: { Service: service },
  Action: "sts:AssumeRole",
});

/** A service may assume a role only for a resource of Skyhook's AWS account. */
const trustForUs = (service: string) => ({
  ...trust(service),
  Condition: { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } },
});

/** Scheduler may assume a role only for the schedules of our group. */
const TRUST_FOR_OUR_SCHEDULES = {
  ...trust("scheduler.amazonaws.com"),
  Condition: {
    StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } },
    ArnEquals: { "aws:SourceArn": arn("ScheduleGroup") },
  },
};

/** Principals that may assume each role, with their conditions. */
export const TRUST = {
  IntakeRole: [trust("lambda.amazonaws.com")],
  Subscriber111122223333Role: [trustForUs("events.amazonaws.com")],
  RunCommandsRole: [trust("lambda.amazonaws.com")],
  PollTasksRole: [trust("lambda.amazonaws.com")],
  SyncThresholdsRole: [trust("lambda.amazonaws.com")],
  SnapshotPricesRole: [trust("lambda.amazonaws.com")],
  WatchAiTasksRole: [trust("lambda.amazonaws.com")],
  PollTickRole: [TRUST_FOR_OUR_SCHEDULES],
  DriftTickRole: [TRUST_FOR_OUR_SCHEDULES],
  PriceTickRole: [TRUST_FOR_OUR_SCHEDULES],
  AiTaskTickRole: [TRUST_FOR_OUR_SCHEDULES],
};
