const alarmsOf = require("./alarms.cjs");
const configBucket = require("./config-bucket.cjs");
const { configured } = require("./configured.cjs");
const intakeRules = require("./intake-rules.cjs");
const { nameOf, STAGE } = require("./name.cjs");
const queues = require("./queues.cjs");
const subscribers = require("./subscribers.cjs");
const { MAX_ALARMS_PER_WIDGET } = require("./template-limits.cjs");

/** Of a dashboard's grid, which is 24 wide. */
const WIDTH = 8;
const HEIGHT = 6;

const ours = (metric, ...more) => ["skyhook", metric, "service", STAGE, ...more];
const ofQueue = (metric) => (id) => ["AWS/SQS", metric, "QueueName", `\${${id}.QueueName}`];
const ofFunction = (metric) => (name) => ["AWS/Lambda", metric, "FunctionName", nameOf(name)];

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

/** What a rule could put neither where it should nor into its dead-letter queue. */
const failedDeadLetters = ({ Name, EventBusName }) => [
  ...["AWS/Events", "InvocationsFailedToBeSentToDlq"],
  ...(EventBusName ? ["EventBusName", nameOf("events")] : []),
  ...["RuleName", Name],
];

const rulesOf = async (osls) =>
  Object.values({ ...(await intakeRules(osls)), ...(await subscribers(osls)), ...configBucket })
    .filter(({ Type }) => Type === "AWS::Events::Rule")
    .map(({ Properties }) => Properties);

const graphsOf = ({ functions, accounts, rules }) => {
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
    graph("Dead letters lost", [
      ...rules.map(failedDeadLetters),
      ...functions.map(ofFunction("DestinationDeliveryFailures")),
      ["AWS/Scheduler", "InvocationsFailedToBeSentToDeadLetterCount", "ScheduleGroup", STAGE],
    ]),
    graph("Failed runs", functions.map(ofFunction("Errors"))),
    graph("Throttled runs", functions.map(ofFunction("Throttles"))),
    graph("Time of a run, p95, ms", functions.map(ofFunction("Duration")), { stat: "p95" }),
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

/** What is wrong, and below it why: what came to an end, what waits, what runs. */
module.exports = async (osls) => {
  const { accounts } = await configured(osls);
  const functions = Object.keys(await osls.resolveVariable("self:functions"));
  const rules = await rulesOf(osls);
  const alarms = Object.keys(await alarmsOf(osls)).map((id) => `\${${id}.Arn}`);
  const shown = alarmWidgets(alarms);
  const graphs = graphsOf({ functions, rules, accounts: accounts.accounts });
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
