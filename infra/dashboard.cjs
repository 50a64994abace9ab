const { nameOf } = require("./names.cjs");
const alarmsOf = require("./alarms.cjs");
const { configured } = require("./configured.cjs");
const { lostDeadLetters, ofFunction, ours } = require("./metrics.cjs");
const { queues } = require("./queues.cjs");
const { MAX_ALARMS_PER_WIDGET } = require("./template-limits.cjs");

/** Size of a widget. The grid of a dashboard has 24 columns. */
const WIDTH = 8;
const HEIGHT = 6;

const ofQueue = (metric) => (id) => ["AWS/SQS", metric, "QueueName", `\${${id}.QueueName}`];

/** @param properties overrides; the default is the sum over five minutes */
const graph = (title, metrics, properties = {}) => ({
  type: "metric",
  properties: {
    title,
    region: `\${AWS::Region}`,
    stat: "Sum",
    period: 300,
    metrics,
    ...properties,
  },
});

const graphsOf = ({ functions, accounts, lost }) => {
  const deadLetters = Object.keys(queues).filter((id) => id.endsWith("DeadLetter"));
  const reading = Object.keys(queues).filter((id) => /Queue$/.test(id));
  return [
    graph(
      "Commands that ended",
      ["succeeded", "failed", "cancelled", "rejected"].map((outcome) =>
        ours("CommandEnded", "outcome", outcome),
      ),
    ),
    graph("Duration of a command, ms", [
      [...ours("CommandDuration"), { stat: "p50" }],
      [...ours("CommandDuration"), { stat: "p95" }],
    ]),
    graph("Ledger: delay of the latest entry, s", [ours("LedgerLag")], { stat: "Maximum" }),
    graph("Ledger: failed entries", [ours("DueEntryLeft")]),
    graph("Messages waiting", reading.map(ofQueue("ApproximateNumberOfMessagesVisible")), {
      stat: "Maximum",
    }),
    graph("Age of the oldest message, s", reading.map(ofQueue("ApproximateAgeOfOldestMessage")), {
      stat: "Maximum",
    }),
    graph("Dead letters", deadLetters.map(ofQueue("ApproximateNumberOfMessagesVisible")), {
      stat: "Maximum",
    }),
    graph("Dead letters lost", lost),
    graph(
      "Failed runs",
      functions.map((name) => ofFunction("Errors", name)),
    ),
    graph(
      "Throttled runs",
      functions.map((name) => ofFunction("Throttles", name)),
    ),
    graph(
      "Duration of a run, p95, ms",
      functions.map((name) => ofFunction("Duration", name)),
      { stat: "p95" },
    ),
    graph("Finished runs of the poller", [ours("PollerRan")]),
    graph(
      "API key failures",
      ["AccountKeyRefused", "AccountKeyUnreadable"].flatMap((metric) =>
        accounts.map(({ name }) => ours(metric, "account", name)),
      ),
    ),
    graph(
      "Incidents for an operator",
      ["UnknownOutcome", "TaskPastDeadline", "ThresholdsRejected", "WatchlistRejected"].map(
        (metric) => ours(metric),
      ),
    ),
  ];
};

/** Three widgets per row. @param row of the first widget */
const placed = (row) => (widget, index) => ({
  ...widget,
  x: (index % 3) * WIDTH,
  y: (row + Math.floor(index / 3)) * HEIGHT,
  width: WIDTH,
  height: HEIGHT,
});

/** One widget per 100 alarms, one below the other. */
const alarmWidgets = (alarms) =>
  Array.from({ length: Math.ceil(alarms.length / MAX_ALARMS_PER_WIDGET) }, (_, index) => ({
    type: "alarm",
    x: 0,
    y: index * HEIGHT,
    width: 3 * WIDTH,
    height: HEIGHT,
    properties: {
      title: index === 0 ? "Alarms" : `Alarms, ${index + 1}`,
      alarms: alarms.slice(index * MAX_ALARMS_PER_WIDGET, (index + 1) * MAX_ALARMS_PER_WIDGET),
    },
  }));

/**
 * The dashboard of a stage: alarms at the top, graphs for their causes below. No dashboard if the stage
 * parameter `monitoring` is "no".
 */
module.exports = async (osls) => {
  const { accounts, isMonitored } = await configured(osls);
  if (!isMonitored) return {};
  const functions = Object.keys(await osls.resolveVariable("self:functions"));
  const lost = await lostDeadLetters(osls);
  const alarms = Object.keys(await alarmsOf(osls)).map((id) => `\${${id}.Arn}`);
  const shown = alarmWidgets(alarms);
  const graphs = graphsOf({ functions, lost, accounts: accounts.accounts });
  const widgets = [...shown, ...graphs.map(placed(shown.length))];
  return {
    Dashboard: {
      Type: "AWS::CloudWatch::Dashboard",
      Properties: {
        // The name of a dashboard is unique in the AWS account, across all regions.
        DashboardName: { "Fn::Sub": `${nameOf("dashboard")}-\${AWS::Region}` },
        DashboardBody: { "Fn::Sub": JSON.stringify({ widgets }) },
      },
    },
  };
};
