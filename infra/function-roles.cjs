/**
 * One role for each function, with what it calls and nothing else. Roles have no names of their own:
 * IAM is global, and a name would keep a stage out of a second region.
 *
 * No statement for KMS: DynamoDB, SQS and SSM decrypt with AWS managed keys, which every principal
 * of the account may use through the service. Parameters under a key of your own need
 * `kms:Decrypt` on that key here.
 */
const arnOf = (logicalId) => ({ "Fn::GetAtt": [logicalId, "Arn"] });

const allow = (actions, ...resources) => ({
  Effect: "Allow",
  Action: actions,
  Resource: resources,
});

/** @param parameter an osls variable that holds the name of an SSM parameter, with its slash */
const parameterArn = (parameter) => ({
  "Fn::Sub": `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter${parameter}`,
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: variables of osls
const API_KEY = parameterArn("${param:apiKeyParameter}");
const FINGERPRINT_KEY = parameterArn("${param:fingerprintKeyParameter}");
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above

/** What every function does: every item is read and written whole; nothing is updated or deleted. */
const LEDGER = allow(["dynamodb:GetItem", "dynamodb:PutItem"], arnOf("LedgerTable"));
const PUBLISH = allow(["events:PutEvents"], arnOf("EventBus"));

/** What run-commands and poll-tasks do, because both advance commands. */
const COMMANDS = [
  LEDGER,
  // run-commands hands a lane over, poll-tasks sends commands back.
  allow(["sqs:SendMessage"], arnOf("CommandQueue"), arnOf("WakeQueue")),
  PUBLISH,
  allow(["ssm:GetParameter"], API_KEY, FINGERPRINT_KEY),
];

/** What the standing jobs do. */
const JOB = [LEDGER, PUBLISH, allow(["ssm:GetParameter"], API_KEY)];

const objectArn = (key) => ({
  "Fn::Sub": [`\${bucket}/${key}`, { bucket: arnOf("ConfigBucket") }],
});

/** Where a call ends that failed at every retry. */
const KEEP_FAILED = allow(["sqs:SendMessage"], arnOf("ScheduleDeadLetter"));

/** Without the right to list, S3 answers "denied" instead of "not there". */
const readConfig = (key) => [
  allow(["s3:GetObject"], objectArn(key)),
  allow(["s3:ListBucket"], arnOf("ConfigBucket")),
];

const consume = (queue) =>
  allow(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], arnOf(queue));

/** osls makes the log group; its Arn ends in `:*`, which are its streams. */
const log = (logGroup) => allow(["logs:CreateLogStream", "logs:PutLogEvents"], arnOf(logGroup));

const roleOf = (...statements) => ({
  Type: "AWS::IAM::Role",
  Properties: {
    AssumeRolePolicyDocument: {
      Version: "2012-10-17",
      Statement: [
        {
          Effect: "Allow",
          Principal: { Service: "lambda.amazonaws.com" },
          Action: "sts:AssumeRole",
        },
      ],
    },
    Policies: [
      {
        PolicyName: "function",
        PolicyDocument: { Version: "2012-10-17", Statement: statements },
      },
    ],
  },
});

module.exports = {
  RunCommandsRole: roleOf(log("RunDashcommandsLogGroup"), consume("CommandQueue"), ...COMMANDS),
  PollTasksRole: roleOf(
    log("PollDashtasksLogGroup"),
    consume("WakeQueue"),
    allow(["dynamodb:Query"], {
      "Fn::Sub": [`\${table}/index/due`, { table: arnOf("LedgerTable") }],
    }),
    ...COMMANDS,
  ),
  SyncThresholdsRole: roleOf(
    log("SyncDashthresholdsLogGroup"),
    ...readConfig("thresholds.yaml"),
    ...JOB,
    KEEP_FAILED,
  ),
  SnapshotPricesRole: roleOf(
    log("SnapshotDashpricesLogGroup"),
    ...readConfig("watchlist.yaml"),
    ...JOB,
    KEEP_FAILED,
  ),
  WatchAiTasksRole: roleOf(log("WatchDashaiDashtasksLogGroup"), ...JOB),
};
