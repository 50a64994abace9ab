const { ENABLED } = require("../kill-switch.cjs");
const { alarm, ours } = require("./alarm.cjs");

/** Of what only Skyhook itself can count. */
exports.commandAlarms = {
  PollerSilent: alarm({
    name: "poller-silent",
    description:
      "poll-tasks has not come to the end of a run for 5 minutes: no task is followed, no command is retried, no completion is told",
    runbook: "The poller is silent",
    ...ours("PollerRan"),
    ComparisonOperator: "LessThanThreshold",
    TreatMissingData: "breaching",
    // Whoever has stopped everything knows.
    ActionsEnabled: ENABLED,
  }),
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
  ThresholdsRejected: alarm({
    name: "thresholds-rejected",
    description: "thresholds.yaml is missing or invalid: no threshold is changed until it is right",
    runbook: "The thresholds file is rejected",
    ...ours("ThresholdsRejected"),
  }),
};
