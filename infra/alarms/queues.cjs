const { nameOf } = require("../name.cjs");
const queues = require("../queues.cjs");
const { alarm } = require("./alarm.cjs");

const ofQueue = (id, metric) => ({
  Namespace: "AWS/SQS",
  MetricName: metric,
  Dimensions: [{ Name: "QueueName", Value: { "Fn::GetAtt": [id, "QueueName"] } }],
  Statistic: "Maximum",
});

/** One for each dead-letter queue: nothing ever takes a message out of them but people. */
const deadLetterAlarm = ([id, { Properties, Metadata }]) => [
  `${id}NotEmpty`,
  alarm({
    name: Properties.QueueName.replace(nameOf(""), "").replace(".fifo", ""),
    description: `${Metadata.Holds} are kept, for 14 days`,
    runbook: "Redrive dead letters",
    ...ofQueue(id, "ApproximateNumberOfMessagesVisible"),
  }),
];

exports.queueAlarms = {
  ...Object.fromEntries(
    Object.entries(queues)
      .filter(([id]) => id.endsWith("DeadLetter"))
      .map(deadLetterAlarm),
  ),

  CommandsWaiting: alarm({
    name: "commands-waiting",
    description: "A command has been in the queue for more than 15 minutes: it is not being run",
    runbook: "Commands are waiting",
    ...ofQueue("CommandQueue", "ApproximateAgeOfOldestMessage"),
    // Five of the ten receives, each 3 min after the other, that a message has: as much time is left
    // to act before it is a dead letter.
    Threshold: 900,
    ComparisonOperator: "GreaterThanThreshold",
  }),
};
