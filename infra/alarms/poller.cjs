const { whileRunning } = require("../kill-switch.cjs");
const { alarm, ours } = require("./alarm.cjs");

const LEFT_BEHIND = "The poller leaves work behind";

/** Of the one function that everything else waits for. */
exports.pollerAlarms = {
  PollerSilent: alarm({
    name: "poller-silent",
    description:
      "poll-tasks has not come to the end of a run for 5 minutes: no task is followed, no command is retried, no completion is told",
    runbook: "The poller is silent",
    ...ours("PollerRan"),
    ComparisonOperator: "LessThanThreshold",
    // Whoever has stopped everything knows; whoever goes on is told when it does not.
    TreatMissingData: whileRunning("breaching", "notBreaching"),
  }),
  DueEntriesLeft: alarm({
    name: "due-entries-left",
    description:
      "poll-tasks has failed at something due in each of the last three times 5 minutes: a completion is not told, or a command not sent on",
    runbook: LEFT_BEHIND,
    ...ours("DueEntryLeft"),
    // One failure is made up for within seconds, and an AWS service's bad minute within the next.
    EvaluationPeriods: 3,
  }),
  LedgerLags: alarm({
    name: "ledger-lags",
    description:
      "What was due in the ledger 5 minutes ago has not been worked off: completions and commands are late",
    runbook: LEFT_BEHIND,
    ...ours("LedgerLag"),
    Statistic: "Maximum",
    // Two of three: the first run after a stop finds everything late, and that once.
    EvaluationPeriods: 3,
    DatapointsToAlarm: 2,
    Threshold: 300,
    ComparisonOperator: "GreaterThanThreshold",
  }),
};
