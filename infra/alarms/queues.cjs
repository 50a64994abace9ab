const {
  deadLetterRetentionSeconds,
  queues: limits,
} = require("../../lib/platform/deployment.json");
const { nameOf } = require("../name.cjs");
const queues = require("../queues.cjs");
const { alarm } = require("./alarm.cjs");

const ofQueue = (id, metric) => ({
  Namespace: "AWS/SQS",
  MetricName: metric,
  Dimensions: [{ Name: "QueueName", Value: { "Fn::GetAtt": [id, "QueueName"] } }],
  Statistic: "Maximum",
});

const daysOf = (seconds) => `${seconds / 86_400} days`;

/** One for each dead-letter queue: nothing ever takes a message out of them but people. */
const deadLetterAlarm = ([id, { Properties, Metadata }]) => [
  `${id}NotEmpty`,
  alarm({
    name: Properties.QueueName.replace(nameOf(""), "").replace(".fifo", ""),
    description: `${Metadata.Holds} are kept, for ${daysOf(deadLetterRetentionSeconds)}`,
    runbook: "Redrive dead letters",
    ...ofQueue(id, "ApproximateNumberOfMessagesVisible"),
  }),
];

const waitingAlarm = ({ queue, ...said }) =>
  alarm({
    ...said,
    ...ofQueue(queue, "ApproximateAgeOfOldestMessage"),
    // A crashed run delays a message by 3 min. SQS no longer counts the age of a message from its third
    // receive on, which is at 6 min where each fails; its dead letter comes at 30.
    Threshold: 300,
    ComparisonOperator: "GreaterThanThreshold",
  });

exports.queueAlarms = {
  ...Object.fromEntries(
    Object.entries(queues)
      .filter(([id]) => id.endsWith("DeadLetter"))
      .map(deadLetterAlarm),
  ),

  CommandsWaiting: waitingAlarm({
    name: "commands-waiting",
    description: "A command has been in the queue for more than 5 minutes: it is not being run",
    runbook: "Commands are waiting",
    queue: "CommandQueue",
  }),
  RequestsWaiting: waitingAlarm({
    name: "requests-waiting",
    description: `An event has been in the queue of intake for more than 5 minutes, and SQS drops it after ${daysOf(limits.requests.retentionSeconds)}`,
    runbook: "Requests are waiting",
    queue: "RequestQueue",
  }),
};
