const { configured } = require("./configured.cjs");
const { arnOf } = require("./names.cjs");

/** Keeps schedules and rules of other AWS accounts from using a role through the service that all share. */
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
 * A role that an AWS service takes on for something of ours.
 * @param name what its policy is called
 * @param condition more that has to hold when the service takes it
 */
const serviceRole = (service, name, statements, condition = {}) =>
  role(
    { Principal: { Service: service }, Condition: { ...FOR_US_ONLY, ...condition } },
    name,
    statements,
  );

/** The role of a function: only who may pass a role of this AWS account can give it to one. */
const functionRole = (...statements) =>
  role({ Principal: { Service: "lambda.amazonaws.com" } }, "function", statements);
exports.serviceRole = serviceRole;

/**
 * One role for each function, with what it calls and nothing else. Roles have no names of their own:
 * IAM is global, and a name would keep a stage out of a second region.
 *
 * No statement for KMS: DynamoDB, SQS and SSM decrypt with AWS managed keys, which every principal
 * of the account may use through the service. Parameters under a key of your own need
 * `kms:Decrypt` on that key here.
 */
const allow = (actions, ...resources) => ({
  Effect: "Allow",
  Action: actions,
  Resource: resources,
});

/** @param parameter the name of an SSM parameter, with its slash, or an osls variable that holds it */
const parameterArn = (parameter) => ({
  "Fn::Sub": `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter${parameter}`,
});

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of osls
const FINGERPRINT_KEY = parameterArn("${param:fingerprintKeyParameter}");

/** What every function does: every item is read and written whole; nothing is updated or deleted. */
const LEDGER = allow(["dynamodb:GetItem", "dynamodb:PutItem"], arnOf("LedgerTable"));
const PUBLISH = allow(["events:PutEvents"], arnOf("EventBus"));

/**
 * All of the stage's own parameters by one grant, so that a role's policy does not grow with every
 * account; each one with a name elsewhere by its own.
 */
const grantsFor = (keyParameters, stage) => {
  const own = `/skyhook/${stage}/`;
  const others = keyParameters.filter((parameter) => !parameter.startsWith(own));
  return [parameterArn(`${own}*`), ...others.map(parameterArn)];
};

/** What run-commands and poll-tasks do, because both advance commands, of any account. */
const commandsOf = (keyParameters, stage) => [
  LEDGER,
  // run-commands hands a lane over, poll-tasks sends commands back.
  allow(["sqs:SendMessage"], arnOf("CommandQueue"), arnOf("WakeQueue")),
  PUBLISH,
  allow(["ssm:GetParameter"], ...grantsFor(keyParameters, stage)),
];

/**
 * What scheduled jobs have in common in the ledger: the rate limit and key state of their account. `due`
 * is the partition key of the ledger's index, should DynamoDB count it as a leading key of a write.
 */
const SHARED_ITEMS = ["budget#*", "due"];

/**
 * What a scheduled job does, with its one account. It reaches its own items only, so it can read no
 * stored request. Both actions always name a key; "for all values" would be true of none.
 * @param ownItems patterns of item keys: the kinds of lib/ledger, and the job's own lease
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

/** Where a call ends that failed at every retry. */
const keepFailed = (queue) => allow(["sqs:SendMessage"], arnOf(queue));

/** Without the right to list, S3 answers "denied" instead of "not there". */
const readConfig = (key) => [
  allow(["s3:GetObject"], objectArn(key)),
  allow(["s3:ListBucket"], arnOf("ConfigBucket")),
];

const consume = (queue) =>
  allow(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], arnOf(queue));

/** osls makes the log group; its Arn ends in `:*`, which are its streams. */
const log = (logGroup) => allow(["logs:CreateLogStream", "logs:PutLogEvents"], arnOf(logGroup));

/** Checks whether an id is taken, records rejections, hands commands over; never calls the provider. */
const INTAKE = [
  allow(["dynamodb:GetItem"], arnOf("LedgerTable")),
  {
    ...allow(["dynamodb:PutItem"], arnOf("LedgerTable")),
    Condition: {
      "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["rejection#*", "rejection-hour#*"] },
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
