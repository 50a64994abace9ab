const { arnOf } = require("./arn.cjs");
const { nameOf } = require("./name.cjs");
const { encryptedOnly, sentByUsOnly } = require("./queue-policies.cjs");

const DAY_SECONDS = 24 * 60 * 60;

/** The longest that SQS keeps a message: two weeks for somebody to look. */
const DEAD_LETTER_RETENTION_SECONDS = 14 * DAY_SECONDS;

/** @param holds what its messages are, for the alarm that each dead-letter queue has */
const deadLetter = (thing, holds, more = {}) => ({
  Type: "AWS::SQS::Queue",
  Metadata: { Holds: holds },
  Properties: {
    QueueName: nameOf(thing),
    MessageRetentionPeriod: DEAD_LETTER_RETENTION_SECONDS,
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
      // 6 x the timeout of run-commands (30 s), as AWS asks for; a crashed group opens within 3 min.
      VisibilityTimeout: 180,
      MessageRetentionPeriod: 4 * DAY_SECONDS,
      RedrivePolicy: {
        deadLetterTargetArn: arnOf("CommandDeadLetter"),
        // Attempts at the provider are the ledger's and cost no receive; a receive is lost when
        // nothing can be recorded. 10 x 3 min sit out half an hour without the ledger.
        maxReceiveCount: 10,
      },
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
      // 6 x the timeout of poll-tasks (60 s).
      VisibilityTimeout: 360,
      // An older wake is worth nothing: the schedule has looked sixty times since. Longer than the
      // longest delay (15 min) and than all receives (18 min) together.
      MessageRetentionPeriod: 60 * 60,
      RedrivePolicy: {
        deadLetterTargetArn: arnOf("WakeDeadLetter"),
        // The schedule does a lost wake's work; more receives would only repeat a broken run.
        maxReceiveCount: 3,
      },
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
      // 6 x the timeout of intake (30 s), as AWS asks for.
      VisibilityTimeout: 180,
      MessageRetentionPeriod: 4 * DAY_SECONDS,
      RedrivePolicy: {
        deadLetterTargetArn: arnOf("RequestDeadLetter"),
        // 10 x 3 min outlast half an hour in which ledger, command queue or bus do not answer.
        maxReceiveCount: 10,
      },
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
