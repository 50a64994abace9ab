const { configured } = require("./configured.cjs");
const { arnOf } = require("./names.cjs");

/** Prevents schedules and rules of other AWS accounts from using a role through the shared service. */
const FOR_US_ONLY = { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } };

const role = (trust, policy, statements) => ({
  Type: "AWS::IAM::Role",
  Properties: {
    AssumeRolePolicyDocument: {
      Version: "2012-10-17",
      Statement: [{ Effect: "Allow", Action: "sts:AssumeRole", ...trust }],
    },
    Policies: [
      { PolicyName: policy, PolicyDocument: { Version: "2012-10-17", Statement: statements } },
    ],
  },
});

/**
 * A role for an AWS service that acts for a resource of the stage.
 * @param name of its policy
 * @param condition further conditions of its trust policy
 */
const serviceRole = (service, name, statements, condition = {}) =>
  role(
    { Principal: { Service: service }, Condition: { ...FOR_US_ONLY, ...condition } },
    name,
    statements,
  );

/** The role of a function. Its trust needs no condition: attaching it takes `iam:PassRole` in this AWS account. */
const functionRole = (...statements) =>
  role({ Principal: { Service: "lambda.amazonaws.com" } }, "function", statements);
exports.serviceRole = serviceRole;

/*
 * One role for each function, with exactly the actions that it calls. Roles have no explicit names: IAM is global,
 * and a name would allow the stage in one region only.
 *
 * KMS needs no statement. DynamoDB, SQS and SSM decrypt with AWS managed keys, which every principal of the AWS
 * account may use through the service. SSM parameters under a key of your own need `kms:Decrypt` on it here.
 */
const allow = (actions, ...resources) => ({
  Effect: "Allow",
  Action: actions,
  Resource: resources,
});

/** @param parameter name of an SSM parameter with its leading slash, or an osls variable of it */
const parameterArn = (parameter) => ({
  "Fn::Sub": `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter${parameter}`,
});

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of osls
const FINGERPRINT_KEY = parameterArn("${param:fingerprintKeyParameter}");

/** Ledger actions of every function. Items are read and written whole; none is updated or deleted. */
const LEDGER = allow(["dynamodb:GetItem", "dynamodb:PutItem"], arnOf("LedgerTable"));
const PUBLISH = allow(["events:PutEvents"], arnOf("EventBus"));

/**
 * ARNs of the API key parameters: one pattern for all under `/skyhook/STAGE/`, so that the policy does not grow
 * with every account, and one ARN for each parameter elsewhere.
 */
const grantsFor = (keyParameters, stage) => {
  const own = `/skyhook/${stage}/`;
  const others = keyParameters.filter((parameter) => !parameter.startsWith(own));
  return [parameterArn(`${own}*`), ...others.map(parameterArn)];
};

/** Statements of run-commands and poll-tasks, which both advance commands of any account. */
const commandsOf = (keyParameters, stage) => [
  LEDGER,
  // run-commands hands lanes over, poll-tasks sends commands back to their queue.
  allow(["sqs:SendMessage"], arnOf("CommandQueue"), arnOf("WakeQueue")),
  PUBLISH,
  allow(["ssm:GetParameter"], ...grantsFor(keyParameters, stage)),
];

/**
 * Ledger items that all scheduled jobs use: rate limit and API key state of their account. `due` is the partition
 * key of the ledger's index, in case DynamoDB counts it as a leading key of a write.
 */
const SHARED_ITEMS = ["budget#*", "due"];

/**
 * Statements of a scheduled job, which uses one account. It has access to its own items only and can read no
 * stored request. `ForAllValues` is also true without any key, but both actions always name one.
 * @param ownItems patterns of item keys: kinds of lib/ledger, and the job's own lease
 */
const jobOf = (keyParameter, ...ownItems) => [
  {
    ...LEDGER,
    Condition: {
      "ForAllValues:StringLike": { "dynamodb:LeadingKeys": [...ownItems, ...SHARED_ITEMS] },
    },
  },
  PUBLISH,
  allow(["ssm:GetParameter"], parameterArn(keyParameter)),
];

const objectArn = (key) => ({
  "Fn::Sub": [`\${bucket}/${key}`, { bucket: arnOf("ConfigBucket") }],
});

/** Permission to store an invocation that failed at every retry. */
const keepFailed = (queue) => allow(["sqs:SendMessage"], arnOf(queue));

/** Without s3:ListBucket, S3 answers "access denied" instead of "no such key". */
const readConfig = (key) => [
  allow(["s3:GetObject"], objectArn(key)),
  allow(["s3:ListBucket"], arnOf("ConfigBucket")),
];

const consume = (queue) =>
  allow(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], arnOf(queue));

/** osls creates the log group. Its Arn ends in `:*`, which covers its streams. */
const log = (logGroup) => allow(["logs:CreateLogStream", "logs:PutLogEvents"], arnOf(logGroup));

/**
 * Partition keys of the ledger's index `list`, such as `2026-11-22#0`: rejections are in it. As with `due`, in
 * case DynamoDB counts them as leading keys of a write.
 */
const LIST_PARTITIONS = "????-??-??#?";

/** Intake checks ids, records rejections and enqueues commands. It never calls the provider. */
const INTAKE = [
  allow(["dynamodb:GetItem"], arnOf("LedgerTable")),
  {
    ...allow(["dynamodb:PutItem"], arnOf("LedgerTable")),
    Condition: {
      "ForAllValues:StringLike": {
        "dynamodb:LeadingKeys": ["rejection#*", "rejection-hour#*", LIST_PARTITIONS],
      },
    },
  },
  allow(["sqs:SendMessage"], arnOf("CommandQueue")),
  PUBLISH,
  allow(["ssm:GetParameter"], FINGERPRINT_KEY),
];

exports.functionRoles = async (osls) => {
  const { keyParameters, jobKeyParameter, fingerprintKeyParameter } = await configured(osls);
  const stage = await osls.resolveVariable("sls:stage");
  const commands = commandsOf([...keyParameters, fingerprintKeyParameter], stage);
  return {
    IntakeRole: functionRole(
      log("IntakeLogGroup"),
      consume("RequestQueue"),
      ...INTAKE,
      keepFailed("IntakeDeadLetter"),
    ),
    RunCommandsRole: functionRole(
      log("RunDashcommandsLogGroup"),
      consume("CommandQueue"),
      ...commands,
    ),
    PollTasksRole: functionRole(
      log("PollDashtasksLogGroup"),
      consume("WakeQueue"),
      allow(["dynamodb:Query"], {
        "Fn::Sub": [`\${table}/index/due`, { table: arnOf("LedgerTable") }],
      }),
      ...commands,
    ),
    SyncThresholdsRole: functionRole(
      log("SyncDashthresholdsLogGroup"),
      ...readConfig("thresholds.yaml"),
      ...jobOf(jobKeyParameter, "thresholds#*", "lease#sync-thresholds/*"),
      keepFailed("ScheduleDeadLetter"),
    ),
    SnapshotPricesRole: functionRole(
      log("SnapshotDashpricesLogGroup"),
      ...readConfig("watchlist.yaml"),
      ...jobOf(jobKeyParameter, "price#*", "price-reading#*", "price-run#*", "price-names#*"),
      keepFailed("ScheduleDeadLetter"),
    ),
    WatchAiTasksRole: functionRole(
      log("WatchDashaiDashtasksLogGroup"),
      ...jobOf(jobKeyParameter, "ai-task#*", "ai-watch#*", "lease#watch-ai-tasks/*"),
    ),
  };
};
