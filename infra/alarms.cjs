const deployment = require("../lib/platform/deployment.json");
const { configured } = require("./configured.cjs");
const { whileRunning } = require("./kill-switch.cjs");
const { lostDeadLetters, ofFunction, ours } = require("./metrics.cjs");
const { logicalIdOf, nameOf } = require("./names.cjs");
const { queues } = require("./queues.cjs");

const MINUTES_5 = 300;
const HOUR = 3_600;

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of osls
const RUNBOOKS = "${file(infra/configured.cjs):docsUrl}/operate/runbooks";

/**
 * Properties of every alarm. It fires at a value of 1 or more, unless `more` says otherwise.
 *
 * The name is the kind; some alarms append the name of an account or a number. Alarms of a function
 * begin with its name: `intake-errors` has the kind `function-errors`. The runbook is the page of the kind in
 * docs/operate/runbooks.
 * @param options.description what happened and what it means for the operator, in whole sentences
 */
const alarmOn = ({ name, kind = name, description, ...more }) => ({
  Type: "AWS::CloudWatch::Alarm",
  Properties: {
    AlarmName: nameOf(name),
    AlarmDescription: `${description} Runbook: ${RUNBOOKS}/${kind}.md`,
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
 * An alarm on one metric, by default on its sum over five minutes.
 * @param metric namespace, name and dimensions, as in a graph of the dashboard
 * @param its `name`, `kind` and `description` (see `alarmOn`), and CloudFormation properties to override
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

/** Maximum number of metrics in one CloudWatch alarm. */
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

/** Alarms of poll-tasks, which every command and every task depends on. */
const POLLER_ALARMS = {
  PollerSilent: alarm({
    name: "poller-silent",
    description:
      "No run of poll-tasks has finished for 5 minutes. Until one does, no task is followed, no command is retried and no completion is published.",
    metric: ours("PollerRan"),
    ComparisonOperator: "LessThanThreshold",
    // Suppressed while the stage is stopped; fires again after a restart if the poller stays silent.
    TreatMissingData: whileRunning("breaching", "notBreaching"),
  }),
  DueEntriesLeft: alarm({
    name: "due-entries-left",
    description:
      "poll-tasks failed to process a due entry of the ledger in each of the last three periods of 5 minutes. A completion is not published or a command is not retried; the entry stays due.",
    metric: ours("DueEntryLeft"),
    // A run retries a failed entry within seconds, and the next run recovers from a bad minute of an AWS
    // service. Only a failure that lasts needs an operator.
    EvaluationPeriods: 3,
  }),
  LedgerLags: alarm({
    name: "ledger-lags",
    description:
      "An entry of the ledger has been due for more than 5 minutes. Completions and commands are late.",
    metric: ours("LedgerLag"),
    Statistic: "Maximum",
    // Two of three: the first run after a stop finds every entry late, but only that run.
    EvaluationPeriods: 3,
    DatapointsToAlarm: 2,
    Threshold: MINUTES_5,
    ComparisonOperator: "GreaterThanThreshold",
  }),
};

/**
 * Failures that stop all requests of an account until an operator acts. Skyhook retries both, a refused key
 * once in 30 s. Five minutes without a failure do not prove that the key works again.
 */
const KEY_FAILURES = [
  {
    id: "KeyRefused",
    kind: "key-refused",
    metric: "AccountKeyRefused",
    what: ({ name, apiKey }) =>
      `The provider refuses the API key of the account ${name} (${apiKey.parameter}).`,
  },
  {
    id: "KeyUnreadable",
    kind: "key-unreadable",
    metric: "AccountKeyUnreadable",
    what: ({ name, apiKey }) =>
      `The API key of the account ${name} cannot be read from ${apiKey.parameter}, or is not valid in an HTTP header.`,
  },
];

const accountAlarm = ({ kind, metric, what }, account) =>
  alarm({
    name: `${kind}-${account.name}`,
    kind,
    description: `${what(account)} Commands of the account wait until their deadlines, and its scheduled jobs stop.`,
    metric: ours(metric, "account", account.name),
    // Two of three: a rotated key is refused once.
    EvaluationPeriods: 3,
    DatapointsToAlarm: 2,
  });

/** Two alarms for each account of the accounts file. */
const accountAlarms = (accounts) =>
  Object.fromEntries(
    accounts.flatMap((account) =>
      KEY_FAILURES.map((failure) => [
        logicalIdOf(failure.id, account.name),
        accountAlarm(failure, account),
      ]),
    ),
  );

/** Alarms of config files, which stay invalid until an operator corrects them. */
const CONFIG_ALARMS = {
  ThresholdsRejected: alarm({
    name: "thresholds-rejected",
    description:
      "thresholds.yaml is missing or invalid. No threshold changes until the file is valid.",
    metric: ours("ThresholdsRejected"),
    // An invalid file is counted once an hour. With a shorter period the alarm would end and fire again
    // each hour.
    Period: HOUR,
    EvaluationPeriods: 2,
    DatapointsToAlarm: 1,
  }),
  WatchlistRejected: alarm({
    name: "watchlist-rejected",
    description: "watchlist.yaml is invalid. No price is captured until the file is valid.",
    metric: ours("WatchlistRejected"),
    Period: HOUR,
    EvaluationPeriods: 2,
    DatapointsToAlarm: 1,
  }),
};

/** Alarms of incidents. No later metric shows that an incident is over. */
const INCIDENT_ALARMS = {
  TaskPastDeadline: alarm({
    name: "task-past-deadline",
    description:
      "A command reached its deadline while the provider was still working on its tasks. Skyhook no longer follows these tasks.",
    metric: ours("TaskPastDeadline"),
  }),
  UnknownOutcome: alarm({
    name: "unknown-outcome",
    description:
      "A request was sent and its reply was lost. Skyhook cannot find out whether it took effect; an operator has to check.",
    metric: ours("UnknownOutcome"),
  }),
};

const ofQueue = (id, metric) => ({
  metric: ["AWS/SQS", metric, "QueueName", { "Fn::GetAtt": [id, "QueueName"] }],
  Statistic: "Maximum",
});

const daysOf = (seconds) => `${seconds / 86_400} days`;

/** An alarm on the first message of a dead-letter queue, because only an operator removes it. */
const deadLetterAlarm = ([id, { Properties, Metadata }]) => [
  `${id}NotEmpty`,
  alarm({
    name: Properties.QueueName.replace(nameOf(""), "").replace(".fifo", ""),
    description: `The dead-letter queue has messages: ${Metadata.Content}. SQS deletes them after ${daysOf(deployment.deadLetterRetentionSeconds)}.`,
    ...ofQueue(id, "ApproximateNumberOfMessagesVisible"),
  }),
];

const waitingAlarm = ({ queue, ...its }) =>
  alarm({
    ...its,
    ...ofQueue(queue, "ApproximateAgeOfOldestMessage"),
    // A crashed run delays a message by 3 min. SQS does not count the age of a message from its third
    // receive on. A message that fails each time reaches that at 6 min, and is a dead letter at 30 min.
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
    description:
      "A message in the queue commands.fifo is older than 5 minutes. run-commands does not process its command.",
    queue: "CommandQueue",
  }),
  RequestsWaiting: waitingAlarm({
    name: "requests-waiting",
    description: `An event in the queue requests is older than 5 minutes. intake does not process it, and SQS deletes it after ${daysOf(deployment.queues.requests.retentionSeconds)}.`,
    queue: "RequestQueue",
  }),
};

const writeThrottles = (...more) => [
  ...["AWS/DynamoDB", "WriteThrottleEvents"],
  ...["TableName", nameOf("ledger"), ...more],
];

/** A write that an index cannot take is throttled too, and counted on the index instead of the table. */
const LEDGER_ALARMS = {
  LedgerThrottled: sumAlarm({
    name: "ledger-throttled",
    description:
      "DynamoDB throttled writes to the ledger in each of the last three periods of 5 minutes. Commands are late; those that cannot be recorded become dead letters.",
    metrics: [
      writeThrottles(),
      writeThrottles("GlobalSecondaryIndexName", "due"),
      writeThrottles("GlobalSecondaryIndexName", "list"),
    ],
    // The SDK retries a throttled write, which is enough for a burst.
    EvaluationPeriods: 3,
  }),
};

/** `run-commands` as `RunCommands`. */
const pascalCaseOf = (name) =>
  name
    .split("-")
    .map((word) => `${word[0].toUpperCase()}${word.slice(1)}`)
    .join("");

/** Two alarms for each function. */
const functionAlarms = (names) =>
  Object.fromEntries(
    names.flatMap((name) => [
      [
        `${pascalCaseOf(name)}Fails`,
        alarm({
          name: `${name}-errors`,
          kind: "function-errors",
          description: `${name} has failed three times within 15 minutes. Its work is not done.`,
          metric: ofFunction("Errors", name),
          // A failed run is repeated and does no harm. Lambda and the queues try at least three times.
          Period: 900,
          Threshold: 3,
        }),
      ],
      [
        `${pascalCaseOf(name)}Throttled`,
        alarm({
          name: `${name}-throttles`,
          kind: "function-throttles",
          description: `Lambda refused to start ${name} in each of the last three periods of 5 minutes. Its work is late.`,
          metric: ofFunction("Throttles", name),
          // A burst needs no action: Lambda or the queue keeps the invocations meanwhile.
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
        kind: "dead-letters-lost",
        description:
          "An event or an invocation failed and could not be stored as a dead letter either. It is lost.",
        metrics,
      }),
    ]),
  );

/** @param actions properties such as `AlarmActions`, each with the ARNs of its topics */
const withActions = (alarms, actions) =>
  Object.fromEntries(
    Object.entries(alarms).map(([id, { Properties, ...alarm }]) => [
      id,
      { ...alarm, Properties: { ...Properties, ...actions } },
    ]),
  );

/** All alarms of a stage; none if its parameter `monitoring` is "no". */
module.exports = async (osls) => {
  const { accounts, aiTaskName, isMonitored } = await configured(osls);
  if (!isMonitored) return {};
  const functions = Object.keys(await osls.resolveVariable("self:functions"));
  // Without a schedule only an operator starts watch-ai-tasks, and sees the failure.
  const started = functions.filter((name) => name !== "watch-ai-tasks" || aiTaskName !== undefined);
  const topicArn = String((await osls.resolveVariable("param:alarmTopicArn")) ?? "");
  const states = {
    ...accountAlarms(accounts.accounts),
    ...POLLER_ALARMS,
    ...CONFIG_ALARMS,
    ...QUEUE_ALARMS,
    ...LEDGER_ALARMS,
    ...functionAlarms(started),
  };
  const incidents = { ...INCIDENT_ALARMS, ...(await lostDeadLetterAlarms(osls)) };
  if (topicArn === "") return { ...states, ...incidents };
  const topics = [topicArn];
  return {
    ...withActions(states, { AlarmActions: topics, OKActions: topics }),
    // An incident does not end after five minutes without another one, so nothing reports its end.
    ...withActions(incidents, { AlarmActions: topics }),
  };
};
