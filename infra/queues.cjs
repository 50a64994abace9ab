const { deadLetterRetentionSeconds, queues } = require("../lib/platform/deployment.json");
const { arnOf } = require("./arn.cjs");
const { nameOf } = require("./name.cjs");
const { encryptedOnly, sentByUsOnly } = require("./queue-policies.cjs");

/** What SQS does with the messages of a queue that a function reads. */
const limits = ({ visibilitySeconds, retentionSeconds, maxReceiveCount }, deadLetterQueue) => ({
  VisibilityTimeout: visibilitySeconds,
  MessageRetentionPeriod: retentionSeconds,
  RedrivePolicy: { deadLetterTargetArn: arnOf(deadLetterQueue), maxReceiveCount },
});

/** @param holds what its messages are, for the alarm that each dead-letter queue has */
const deadLetter = (thing, holds, more = {}) => ({
  Type: "AWS::SQS::Queue",
  Metadata: { Holds: holds },
  Properties: {
    QueueName: nameOf(thing),
    MessageRetentionPeriod: deadLetterRetentionSeconds,
    SqsManagedSseEnabled: true,
    ...more,
  },
});

module.exports = {
  CommandQueue: {
    Type: "AWS::SQS::Queue",
    Properties: {
      QueueName: nameOf("commands.fifo"),
      FifoQueue: true,
      // Two commands may be equal in content and still two; the sender's deduplication id decides.
      ContentBasedDeduplication: false,
      ...limits(queues.commands, "CommandDeadLetter"),
      SqsManagedSseEnabled: true,
    },
  },
  CommandDeadLetter: deadLetter(
    "commands-dead-letter.fifo",
    "Commands that could neither be run nor be recorded",
    { FifoQueue: true },
  ),

  WakeQueue: {
    Type: "AWS::SQS::Queue",
    Properties: {
      QueueName: nameOf("wake"),
      ...limits(queues.wake, "WakeDeadLetter"),
      SqsManagedSseEnabled: true,
    },
  },
  WakeDeadLetter: deadLetter(
    "wake-dead-letter",
    "Wakes of poll-tasks that it failed at three times",
  ),

  /** What rules of both buses send to intake. Its policy is in intake-rules.cjs. */
  RequestQueue: {
    Type: "AWS::SQS::Queue",
    Properties: {
      QueueName: nameOf("requests"),
      ...limits(queues.requests, "RequestDeadLetter"),
      // Not SQS's key in KMS: EventBridge cannot write to a queue that the AWS-managed key encrypts.
      SqsManagedSseEnabled: true,
    },
  },
  // Of its own, and nothing else gets into it: StartMessageMoveTask moves only what SQS itself put there.
  RequestDeadLetter: deadLetter("requests-dead-letter", "Events that intake failed at ten times"),

  CommandQueuePolicy: sentByUsOnly("CommandQueue"),
  WakeQueuePolicy: sentByUsOnly("WakeQueue"),
  CommandDeadLetterPolicy: encryptedOnly("CommandDeadLetter"),
  WakeDeadLetterPolicy: encryptedOnly("WakeDeadLetter"),
  RequestDeadLetterPolicy: encryptedOnly("RequestDeadLetter"),

  IntakeDeadLetter: deadLetter(
    "intake-dead-letter",
    "Events that a rule could not put into the queue of intake",
  ),
  SubscriberDeadLetter: deadLetter(
    "subscriber-dead-letter",
    "Events of commands that could not be handed to the bus of their sender",
  ),
  ScheduleDeadLetter: deadLetter(
    "schedule-dead-letter",
    "Ticks and news of configs that could not be handed to a function, or that it failed at",
  ),
};
