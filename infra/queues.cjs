const deployment = require("../lib/platform/deployment.json");
const { arnOf, nameOf } = require("./names.cjs");

/** SQS also answers plain HTTP, in which anyone on the way could read a signed request and its reply. */
const NO_PLAIN_HTTP = {
  Sid: "NoPlainHttp",
  Effect: "Deny",
  Principal: "*",
  Action: "sqs:*",
  Condition: { Bool: { "aws:SecureTransport": "false" } },
};

/** @param statements about sending to the queue */
const policyOf = (queue, statements) => ({
  Type: "AWS::SQS::QueuePolicy",
  Properties: {
    Queues: [{ Ref: queue }],
    PolicyDocument: {
      Version: "2012-10-17",
      Statement: [
        NO_PLAIN_HTTP,
        ...statements.map((statement) => ({ ...statement, Action: "sqs:SendMessage" })),
      ].map((statement) => ({ ...statement, Resource: arnOf(queue) })),
    },
  },
});

/** Of a dead-letter queue that SQS itself fills. */
const encryptedOnly = (queue) => policyOf(queue, []);

const EVENT_BRIDGE = { Effect: "Allow", Principal: { Service: "events.amazonaws.com" } };

/** Roles and users: a service that acts for us has no AWS account of its own. */
const NO_OTHER_AWS_ACCOUNT = {
  Sid: "NoOtherAwsAccount",
  Effect: "Deny",
  Principal: "*",
  Condition: {
    StringNotEqualsIfExists: { "aws:PrincipalAccount": { Ref: "AWS::AccountId" } },
    BoolIfExists: { "aws:PrincipalIsAWSService": "false" },
  },
};

/** Lets rules of EventBridge put what they could not deliver into a dead-letter queue. */
const deadLetterPolicy = (queue, condition) =>
  policyOf(queue, [{ ...EVENT_BRIDGE, Condition: condition }]);

/**
 * Only our own AWS account sends what functions read: a command on the direct queue has our own
 * rights. Without any policy it would be so too, but an "allow" that an operator adds would change it,
 * and no "allow" goes before a "deny". The first statement is about roles and users, the second
 * about AWS services, which have no account of their own and say for whose resource they act.
 */
const sentByUsOnly = (queue) =>
  policyOf(queue, [
    NO_OTHER_AWS_ACCOUNT,
    {
      Sid: "NoServiceForAnotherAwsAccount",
      Effect: "Deny",
      Principal: "*",
      Condition: {
        StringNotEqualsIfExists: { "aws:SourceAccount": { Ref: "AWS::AccountId" } },
        Bool: { "aws:PrincipalIsAWSService": "true" },
      },
    },
  ]);

/**
 * Only these rules send, and principals of our own AWS account whose own policies allow it, such as a
 * person who redrives dead letters. A message says for itself which AWS account its event is of, so
 * that right is the right to speak for every sender.
 * @param ruleArns patterns of ARNs: one ARN for each of 300 rules would exceed the size of a policy
 */
const sentByRulesOnly = (queue, ruleArns) =>
  policyOf(queue, [
    {
      Sid: "RulesOfThisStage",
      ...EVENT_BRIDGE,
      Condition: { ArnLike: { "aws:SourceArn": ruleArns } },
    },
    {
      Sid: "NoOtherService",
      Effect: "Deny",
      Principal: "*",
      Condition: {
        ArnNotLike: { "aws:SourceArn": ruleArns },
        Bool: { "aws:PrincipalIsAWSService": "true" },
      },
    },
    NO_OTHER_AWS_ACCOUNT,
  ]);

/** What SQS does with the messages of a queue that a function reads. */
const limits = ({ visibilitySeconds, retentionSeconds, maxReceiveCount }, deadLetterQueue) => ({
  VisibilityTimeout: visibilitySeconds,
  MessageRetentionPeriod: retentionSeconds,
  RedrivePolicy: { deadLetterTargetArn: arnOf(deadLetterQueue), maxReceiveCount },
});

/** @param content its messages, in the words of the queue's alarm */
const deadLetter = (thing, content, more = {}) => ({
  Type: "AWS::SQS::Queue",
  Metadata: { Content: content },
  Properties: {
    QueueName: nameOf(thing),
    MessageRetentionPeriod: deployment.deadLetterRetentionSeconds,
    SqsManagedSseEnabled: true,
    ...more,
  },
});

const queues = {
  CommandQueue: {
    Type: "AWS::SQS::Queue",
    Properties: {
      QueueName: nameOf("commands.fifo"),
      FifoQueue: true,
      // Two commands may be equal in content and still two; the sender's deduplication id decides.
      ContentBasedDeduplication: false,
      ...limits(deployment.queues.commands, "CommandDeadLetter"),
      SqsManagedSseEnabled: true,
    },
  },
  CommandDeadLetter: deadLetter(
    "commands-dead-letter.fifo",
    "commands that could be neither run nor recorded",
    { FifoQueue: true },
  ),

  WakeQueue: {
    Type: "AWS::SQS::Queue",
    Properties: {
      QueueName: nameOf("wake"),
      ...limits(deployment.queues.wake, "WakeDeadLetter"),
      SqsManagedSseEnabled: true,
    },
  },
  WakeDeadLetter: deadLetter(
    "wake-dead-letter",
    "wake signals that poll-tasks failed to process three times",
  ),

  /** What rules of both buses send to intake. Its policy is in event-rules.cjs. */
  RequestQueue: {
    Type: "AWS::SQS::Queue",
    Properties: {
      QueueName: nameOf("requests"),
      ...limits(deployment.queues.requests, "RequestDeadLetter"),
      // Not SQS's key in KMS: EventBridge cannot write to a queue that the AWS-managed key encrypts.
      SqsManagedSseEnabled: true,
    },
  },
  // Of its own, and nothing else gets into it: StartMessageMoveTask moves only what SQS itself put there.
  RequestDeadLetter: deadLetter(
    "requests-dead-letter",
    "events that intake failed to process ten times",
  ),

  CommandQueuePolicy: sentByUsOnly("CommandQueue"),
  WakeQueuePolicy: sentByUsOnly("WakeQueue"),
  CommandDeadLetterPolicy: encryptedOnly("CommandDeadLetter"),
  WakeDeadLetterPolicy: encryptedOnly("WakeDeadLetter"),
  RequestDeadLetterPolicy: encryptedOnly("RequestDeadLetter"),

  IntakeDeadLetter: deadLetter(
    "intake-dead-letter",
    "events that a rule could not put into the queue requests",
  ),
  SubscriberDeadLetter: deadLetter(
    "subscriber-dead-letter",
    "events of commands that could not be delivered to the bus of their sender",
  ),
  ScheduleDeadLetter: deadLetter(
    "schedule-dead-letter",
    "scheduled runs and reactions to a new config that could not be started, or whose function failed",
  ),
};

module.exports = { queues, deadLetterPolicy, encryptedOnly, sentByRulesOnly };
