const { nameOf } = require("./names.cjs");
const alarmsOf = require("./alarms.cjs");
const { configured } = require("./configured.cjs");
const { lostDeadLetters, ofFunction, ours } = require("./metrics.cjs");
const { queues } = require("./queues.cjs");
const { MAX_ALARMS_PER_WIDGET } = require("./template-limits.cjs");

/** Of a dashboard's grid, which is 24 wide. */
const WIDTH = 8;
const HEIGHT = 6;

const ofQueue = (metric) => (id) => ["AWS/SQS", metric, "QueueName", `\${${id}.QueueName}`];

/** @param properties what differs from sums of five minutes */
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
    graph("From acceptance to the end, ms", [
      [...ours("CommandDuration"), { stat: "p50" }],
      [...ours("CommandDuration"), { stat: "p95" }],
    ]),
    graph("The ledger: latest entry, s", [ours("LedgerLag")], { stat: "Maximum" }),
    graph("The ledger: entries left", [ours("DueEntryLeft")]),
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
      "Time of a run, p95, ms",
      functions.map((name) => ofFunction("Duration", name)),
      { stat: "p95" },
    ),
    graph("Runs of the poller", [ours("PollerRan")]),
    graph(
      "Keys in trouble",
      ["AccountKeyRefused", "AccountKeyUnreadable"].flatMap((metric) =>
        accounts.map(({ name }) => ours(metric, "account", name)),
      ),
    ),
    graph(
      "For a person",
      ["UnknownOutcome", "TaskPastDeadline", "ThresholdsRejected", "WatchlistRejected"].map(
        (metric) => ours(metric),
      ),
    ),
  ];
};

/** @param row of the first of them */
const placed = (row) => (widget, index) => ({
  ...widget,
  x: (index % 3) * WIDTH,
  y: (row + Math.floor(index / 3)) * HEIGHT,
  width: WIDTH,
  height: HEIGHT,
});

/** As many widgets, one below the other, as the alarms need. */
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
 * What is wrong, and below it why: what came to an end, what waits, what runs. None where the stage
 * is not monitored.
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
        // Names of dashboards are those of the whole AWS account, not of a region.
        DashboardName: { "Fn::Sub": `${nameOf("dashboard")}-\${AWS::Region}` },
        DashboardBody: { "Fn::Sub": JSON.stringify({ widgets }) },
      },
    },
  };
};
