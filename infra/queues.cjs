const deployment = require("../lib/platform/deployment.json");
const { arnOf, nameOf } = require("./names.cjs");

/** SQS also accepts plain HTTP, which exposes a signed request and its reply to the network. */
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

/** The policy of a dead-letter queue that only SQS itself fills. */
const encryptedOnly = (queue) => policyOf(queue, []);

const EVENT_BRIDGE = { Effect: "Allow", Principal: { Service: "events.amazonaws.com" } };

/** Denies roles and users of other AWS accounts. AWS services have no AWS account of their own. */
const NO_OTHER_AWS_ACCOUNT = {
  Sid: "NoOtherAwsAccount",
  Effect: "Deny",
  Principal: "*",
  Condition: {
    StringNotEqualsIfExists: { "aws:PrincipalAccount": { Ref: "AWS::AccountId" } },
    BoolIfExists: { "aws:PrincipalIsAWSService": "false" },
  },
};

/** Allows EventBridge rules to store undelivered events in a dead-letter queue. */
const deadLetterPolicy = (queue, condition) =>
  policyOf(queue, [{ ...EVENT_BRIDGE, Condition: condition }]);

/**
 * Allows only Skyhook's own AWS account to send, because a command on the direct queue has the rights of that
 * account. The default denies other accounts too, but a later "allow" could change that; a "deny" always wins.
 * The first statement covers roles and users. The second covers AWS services, which have no AWS account of their
 * own and name the AWS account of the resource that they act for.
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
 * Allows these rules to send, and principals of Skyhook's own AWS account with a permission of their own, such as
 * an operator who redrives dead letters. The message itself names the sender of its event, so this permission
 * allows to act as every sender.
 * @param ruleArns patterns of ARNs, because the ARNs of 300 rules would exceed the size of a policy
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

/** Message size, visibility, retention and redrive policy of a queue that a function reads. */
const limits = ({ visibilitySeconds, retentionSeconds, maxReceiveCount }, deadLetterQueue) => ({
  MaximumMessageSize: deployment.maxMessageBytes,
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
    MaximumMessageSize: deployment.maxMessageBytes,
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
      // Two different commands can have equal content; the sender's deduplication id decides.
      ContentBasedDeduplication: false,
      // High throughput: 300 sends a second for each lane instead of for the queue. Each message has a deduplication
      // id of its own, so it makes no difference in which scope repeated ones are dropped.
      DeduplicationScope: "messageGroup",
      FifoThroughputLimit: "perMessageGroupId",
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

  /** Events for intake, from rules of both buses. Its policy is in event-rules.cjs. */
  RequestQueue: {
    Type: "AWS::SQS::Queue",
    Properties: {
      QueueName: nameOf("requests"),
      ...limits(deployment.queues.requests, "RequestDeadLetter"),
      // No KMS key: EventBridge cannot write to a queue under the AWS managed key.
      SqsManagedSseEnabled: true,
    },
  },
  // A dead-letter queue of its own: StartMessageMoveTask moves only messages that SQS itself put into the queue,
  // so nothing else may send to it.
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
    "scheduled runs and reactions to a new config that could not start or failed at every retry",
  ),
};

module.exports = { queues, deadLetterPolicy, encryptedOnly, sentByRulesOnly };
