const { nameOf } = require("../name.cjs");
const { sumAlarm } = require("./alarm.cjs");

const writeThrottles = (...more) => [
  ...["AWS/DynamoDB", "WriteThrottleEvents"],
  ...["TableName", nameOf("ledger"), ...more],
];

/** DynamoDB refuses a write for the index's sake too, and counts it there. */
exports.ledgerAlarms = {
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
