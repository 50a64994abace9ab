const { alarm, ours } = require("./alarm.cjs");

/** Of what only Skyhook itself can count, and what lasts until somebody does something. */
exports.commandAlarms = {
  ThresholdsRejected: alarm({
    name: "thresholds-rejected",
    description: "thresholds.yaml is missing or invalid: no threshold is changed until it is right",
    runbook: "The thresholds file is rejected",
    ...ours("ThresholdsRejected"),
    // One look an hour counts it: in shorter times the alarm would end and come again with each.
    Period: 3_600,
    EvaluationPeriods: 2,
    DatapointsToAlarm: 1,
  }),
  WatchlistRejected: alarm({
    name: "watchlist-rejected",
    description: "watchlist.yaml is invalid: no price is captured until it is right",
    runbook: "The watchlist is rejected",
    ...ours("WatchlistRejected"),
    // One run an hour counts it, as with the thresholds.
    Period: 3_600,
    EvaluationPeriods: 2,
    DatapointsToAlarm: 1,
  }),
};

/** Of what has happened, once and for all. */
exports.happeningAlarms = {
  TaskPastDeadline: alarm({
    name: "task-past-deadline",
    description:
      "A command ended by its deadline while the provider was still at work on it: what becomes of that, nobody follows",
    runbook: "A task is past its deadline",
    ...ours("TaskPastDeadline"),
  }),
  UnknownOutcome: alarm({
    name: "unknown-outcome",
    description:
      "A request was sent, its reply was lost, and whether it took effect cannot be told: somebody has to look",
    runbook: "An outcome is unknown",
    ...ours("UnknownOutcome"),
  }),
};
