const { nameOf } = require("./name.cjs");

const DAY_SECONDS = 24 * 60 * 60;

/** The longest that SQS keeps a message: two weeks for somebody to look. */
const DEAD_LETTER_RETENTION_SECONDS = 14 * DAY_SECONDS;

const arnOf = (logicalId) => ({ "Fn::GetAtt": [logicalId, "Arn"] });

/**
 * No queue that a function reads has a policy: without one, only principals of our own AWS account
 * whose IAM policy names the queue get at it.
 */
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
  CommandDeadLetter: {
    Type: "AWS::SQS::Queue",
    Properties: {
      QueueName: nameOf("commands-dead-letter.fifo"),
      FifoQueue: true,
      MessageRetentionPeriod: DEAD_LETTER_RETENTION_SECONDS,
      SqsManagedSseEnabled: true,
    },
  },

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
  WakeDeadLetter: {
    Type: "AWS::SQS::Queue",
    Properties: {
      QueueName: nameOf("wake-dead-letter"),
      MessageRetentionPeriod: DEAD_LETTER_RETENTION_SECONDS,
      SqsManagedSseEnabled: true,
    },
  },

  /** Ticks and news of configs that could not be handed to a function. */
  ScheduleDeadLetter: {
    Type: "AWS::SQS::Queue",
    Properties: {
      QueueName: nameOf("schedule-dead-letter"),
      MessageRetentionPeriod: DEAD_LETTER_RETENTION_SECONDS,
      SqsManagedSseEnabled: true,
    },
  },
};
