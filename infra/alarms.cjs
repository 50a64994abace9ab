const deployment = require("../lib/platform/deployment.json");
const { configured } = require("./configured.cjs");
const { whileRunning } = require("./kill-switch.cjs");
const { lostDeadLetters, ofFunction, ours } = require("./metrics.cjs");
const { logicalIdOf, nameOf } = require("./names.cjs");
const { queues } = require("./queues.cjs");

const MINUTES_5 = 300;
const HOUR = 3_600;

/** What all alarms have. The alarm comes when the value is 1 or more. */
const alarmOn = ({ name, description, runbook, ...more }) => ({
  Type: "AWS::CloudWatch::Alarm",
  Properties: {
    AlarmName: nameOf(name),
    AlarmDescription: `${description}. README: "${runbook}"`,
    EvaluationPeriods: 1,
    Threshold: 1,
    ComparisonOperator: "GreaterThanOrEqualToThreshold",
    TreatMissingData: "notBreaching",
    ...more,
  },
});

const dimensionsOf = ([Name, Value, ...more]) =>
  Name === undefined ? [] : [{ Name, Value }, ...dimensionsOf(more)];

/**
 * An alarm on one metric, unless it says otherwise on its sum over five minutes.
 * @param metric as a graph has it: namespace, name, dimensions
 * @param its `description`: what it means for the operator on call, without a full stop; `runbook`: a
 * heading of README.md; and properties of CloudFormation that differ
 */
const alarm = ({ metric: [Namespace, MetricName, ...dimensions], ...its }) =>
  alarmOn({
    Statistic: "Sum",
    Period: MINUTES_5,
    Namespace,
    MetricName,
    Dimensions: dimensionsOf(dimensions),
    ...its,
  });

/** As many metrics as CloudWatch takes in one alarm. */
const MAX_METRICS = 10;

/** An alarm on the sum of at most ten metrics over five minutes. */
const sumAlarm = ({ metrics, ...its }) =>
  alarmOn({
    ...its,
    Metrics: [
      { Id: "sum", Expression: "SUM(METRICS())", Label: "all", ReturnData: true },
      ...metrics.map(([Namespace, MetricName, ...dimensions], index) => ({
        Id: `m${index + 1}`,
        MetricStat: {
          Metric: { Namespace, MetricName, Dimensions: dimensionsOf(dimensions) },
          Period: MINUTES_5,
          Stat: "Sum",
        },
        ReturnData: false,
      })),
    ],
  });

/** Of the one function that everything else waits for. */
const POLLER_ALARMS = {
  PollerSilent: alarm({
    name: "poller-silent",
    description:
      "poll-tasks has not come to the end of a run for 5 minutes: no task is followed, no command is retried, no completion is published",
    runbook: "The poller is silent",
    metric: ours("PollerRan"),
    ComparisonOperator: "LessThanThreshold",
    // Suppressed while the stage is stopped; fires again after a restart if the poller stays silent.
    TreatMissingData: whileRunning("breaching", "notBreaching"),
  }),
  DueEntriesLeft: alarm({
    name: "due-entries-left",
    description:
      "poll-tasks has failed at something due in each of the last three times 5 minutes: a completion is not published, or a command not sent on",
    runbook: "The poller leaves work behind",
    metric: ours("DueEntryLeft"),
    // A run makes up for one failure within seconds, the next run for a bad minute of an AWS service.
    EvaluationPeriods: 3,
  }),
  LedgerLags: alarm({
    name: "ledger-lags",
    description:
      "What was due in the ledger 5 minutes ago has not been worked off: completions and commands are late",
    runbook: "The poller leaves work behind",
    metric: ours("LedgerLag"),
    Statistic: "Maximum",
    // Two of three: the first run after a stop finds everything late, and that once.
    EvaluationPeriods: 3,
    DatapointsToAlarm: 2,
    Threshold: MINUTES_5,
    ComparisonOperator: "GreaterThanThreshold",
  }),
};

/**
 * Causes that stop the requests of an account until an operator acts. Both are tried again and again,
 * a refused key once in 30 s: five minutes without a failure are no proof.
 */
const TROUBLES = [
  {
    id: "KeyRefused",
    slug: "key-refused",
    metric: "AccountKeyRefused",
    what: ({ name, apiKey }) =>
      `The provider refuses the key of the account ${name} (${apiKey.parameter})`,
  },
  {
    id: "KeyUnreadable",
    slug: "key-unreadable",
    metric: "AccountKeyUnreadable",
    what: ({ name, apiKey }) =>
      `The key of the account ${name} cannot be read from ${apiKey.parameter}, or no header can carry it`,
  },
];

const accountAlarm = ({ slug, metric, what }, account) =>
  alarm({
    name: `${slug}-${account.name}`,
    description: `${what(account)}: commands wait until their deadlines, scheduled jobs stop`,
    runbook: "The API key is refused",
    metric: ours(metric, "account", account.name),
    // Two of three: a key that is being rotated is refused once.
    EvaluationPeriods: 3,
    DatapointsToAlarm: 2,
  });

/** @param accounts those at the provider, as the accounts file lists them */
const accountAlarms = (accounts) =>
  Object.fromEntries(
    accounts.flatMap((account) =>
      TROUBLES.map((trouble) => [
        logicalIdOf(trouble.id, account.name),
        accountAlarm(trouble, account),
      ]),
    ),
  );

/** Of config files that stay wrong until an operator mends them. */
const CONFIG_ALARMS = {
  ThresholdsRejected: alarm({
    name: "thresholds-rejected",
    description: "thresholds.yaml is missing or invalid: no threshold is changed until it is right",
    runbook: "The thresholds file is rejected",
    metric: ours("ThresholdsRejected"),
    // One run an hour counts it: with a shorter period the alarm would end and come again each hour.
    Period: HOUR,
    EvaluationPeriods: 2,
    DatapointsToAlarm: 1,
  }),
  WatchlistRejected: alarm({
    name: "watchlist-rejected",
    description: "watchlist.yaml is invalid: no price is captured until it is right",
    runbook: "The watchlist is rejected",
    metric: ours("WatchlistRejected"),
    Period: HOUR,
    EvaluationPeriods: 2,
    DatapointsToAlarm: 1,
  }),
};

/** Of incidents: they have happened, and no later metric says that they are over. */
const INCIDENT_ALARMS = {
  TaskPastDeadline: alarm({
    name: "task-past-deadline",
    description:
      "A command ended by its deadline while the provider was still at work on it: Skyhook follows that work no longer",
    runbook: "A task is past its deadline",
    metric: ours("TaskPastDeadline"),
  }),
  UnknownOutcome: alarm({
    name: "unknown-outcome",
    description:
      "A request was sent, its reply was lost, and whether it took effect is unknown: an operator has to find out",
    runbook: "An outcome is unknown",
    metric: ours("UnknownOutcome"),
  }),
};

const ofQueue = (id, metric) => ({
  metric: ["AWS/SQS", metric, "QueueName", { "Fn::GetAtt": [id, "QueueName"] }],
  Statistic: "Maximum",
});

const daysOf = (seconds) => `${seconds / 86_400} days`;

/** One for each dead-letter queue: only an operator takes a message out of them. */
const deadLetterAlarm = ([id, { Properties, Metadata }]) => [
  `${id}NotEmpty`,
  alarm({
    name: Properties.QueueName.replace(nameOf(""), "").replace(".fifo", ""),
    description: `${Metadata.Holds} are kept, for ${daysOf(deployment.deadLetterRetentionSeconds)}`,
    runbook: "Redrive dead letters",
    ...ofQueue(id, "ApproximateNumberOfMessagesVisible"),
  }),
];

const waitingAlarm = ({ queue, ...its }) =>
  alarm({
    ...its,
    ...ofQueue(queue, "ApproximateAgeOfOldestMessage"),
    // A crashed run delays a message by 3 min. SQS no longer counts the age of a message from its third
    // receive on, which is at 6 min where each fails; its dead letter comes at 30.
    Threshold: MINUTES_5,
    ComparisonOperator: "GreaterThanThreshold",
  });

const QUEUE_ALARMS = {
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
    description: `An event has been in the queue of intake for more than 5 minutes, and SQS drops it after ${daysOf(deployment.queues.requests.retentionSeconds)}`,
    runbook: "Requests are waiting",
    queue: "RequestQueue",
  }),
};

const writeThrottles = (...more) => [
  ...["AWS/DynamoDB", "WriteThrottleEvents"],
  ...["TableName", nameOf("ledger"), ...more],
];

/** DynamoDB refuses a write for the index's sake too, and counts it there. */
const LEDGER_ALARMS = {
  LedgerThrottled: sumAlarm({
    name: "ledger-throttled",
    description:
      "DynamoDB has refused writes to the ledger in each of the last three times 5 minutes: commands are late, and those that cannot be recorded fail",
    runbook: "The ledger is throttled",
    metrics: [writeThrottles(), writeThrottles("GlobalSecondaryIndexName", "due")],
    // The SDK repeats a refused write; a burst is over by then.
    EvaluationPeriods: 3,
  }),
};

/** `run-commands` as `RunCommands`. */
const pascalCaseOf = (name) =>
  name
    .split("-")
    .map((word) => `${word[0].toUpperCase()}${word.slice(1)}`)
    .join("");

/** @param names of all functions */
const functionAlarms = (names) =>
  Object.fromEntries(
    names.flatMap((name) => [
      [
        `${pascalCaseOf(name)}Fails`,
        alarm({
          name: `${name}-errors`,
          description: `${name} has failed three times within 15 minutes: its work is not done`,
          runbook: "A function fails",
          metric: ofFunction("Errors", name),
          // A failed run is repeated and does no harm; Lambda and the queues try three times or more.
          Period: 900,
          Threshold: 3,
        }),
      ],
      [
        `${pascalCaseOf(name)}Throttled`,
        alarm({
          name: `${name}-throttles`,
          description: `Lambda has refused to run ${name} in each of the last three times 5 minutes: its work is late`,
          runbook: "A function is throttled",
          metric: ofFunction("Throttles", name),
          // A burst is over by then. Nothing is lost meanwhile: Lambda or the queue keeps the calls.
          EvaluationPeriods: 3,
        }),
      ],
    ]),
  );

const chunked = (entries, size) =>
  Array.from({ length: Math.ceil(entries.length / size) }, (_, index) =>
    entries.slice(index * size, (index + 1) * size),
  );

const lostDeadLetterAlarms = async (osls) =>
  Object.fromEntries(
    chunked(await lostDeadLetters(osls), MAX_METRICS).map((metrics, index) => [
      `DeadLettersLost${index + 1}`,
      sumAlarm({
        name: `dead-letters-lost-${index + 1}`,
        description:
          "An event or a call that failed could not be kept as a dead letter either: it is gone",
        runbook: "Dead letters are lost",
        metrics,
      }),
    ]),
  );

/** @param actions what each alarm does, by the name that CloudFormation has for it */
const acting = (alarms, actions) =>
  Object.fromEntries(
    Object.entries(alarms).map(([id, { Properties, ...alarm }]) => [
      id,
      { ...alarm, Properties: { ...Properties, ...actions } },
    ]),
  );

/**
 * Every alarm says in its description what it means and where in README.md to go on. None where the
 * stage is not monitored.
 */
module.exports = async (osls) => {
  const { accounts, aiTaskName, isMonitored } = await configured(osls);
  if (!isMonitored) return {};
  const functions = Object.keys(await osls.resolveVariable("self:functions"));
  // Without a schedule only people call watch-ai-tasks, and see for themselves that it fails.
  const called = functions.filter((name) => name !== "watch-ai-tasks" || aiTaskName !== undefined);
  const topicArn = String((await osls.resolveVariable("param:alarmTopicArn")) ?? "");
  const states = {
    ...accountAlarms(accounts.accounts),
    ...POLLER_ALARMS,
    ...CONFIG_ALARMS,
    ...QUEUE_ALARMS,
    ...LEDGER_ALARMS,
    ...functionAlarms(called),
  };
  const incidents = { ...INCIDENT_ALARMS, ...(await lostDeadLetterAlarms(osls)) };
  if (topicArn === "") return { ...states, ...incidents };
  const topics = [topicArn];
  return {
    ...acting(states, { AlarmActions: topics, OKActions: topics }),
    // Five minutes without another incident are no news, and not the end of the first.
    ...acting(incidents, { AlarmActions: topics }),
  };
};
