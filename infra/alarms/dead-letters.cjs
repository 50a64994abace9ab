const configBucket = require("../config-bucket.cjs");
const intakeRules = require("../intake-rules.cjs");
const { nameOf, STAGE } = require("../name.cjs");
const subscribers = require("../subscribers.cjs");
const { sumAlarm } = require("./alarm.cjs");

/** As many metrics as CloudWatch takes in one alarm. */
const MAX_METRICS = 10;

/** Rules of the default bus have no dimension for it. */
const ofRule = ({ Name, EventBusName }) => [
  ...["AWS/Events", "InvocationsFailedToBeSentToDlq"],
  ...(EventBusName ? ["EventBusName", nameOf("events")] : []),
  ...["RuleName", Name],
];

const ofFunction = (name) => [
  ...["AWS/Lambda", "DestinationDeliveryFailures"],
  ...["FunctionName", nameOf(name)],
];

/**
 * Metrics of what could not even become a dead letter, each as a graph has it. Functions send their
 * dead letters to destinations: Lambda counts `DeadLetterErrors` only for functions that have a
 * dead-letter queue instead. What SQS itself moves cannot be lost on the way.
 */
const lostDeadLetters = async (osls) => {
  const resources = {
    ...(await intakeRules(osls)),
    ...(await subscribers(osls)),
    ...configBucket,
  };
  const rules = Object.values(resources).filter(({ Type }) => Type === "AWS::Events::Rule");
  const functions = Object.entries(await osls.resolveVariable("self:functions"));
  return [
    ...rules.map(({ Properties }) => ofRule(Properties)),
    ...functions.filter(([, { destinations }]) => destinations).map(([name]) => ofFunction(name)),
    ["AWS/Scheduler", "InvocationsFailedToBeSentToDeadLetterCount", "ScheduleGroup", STAGE],
  ];
};
exports.lostDeadLetters = lostDeadLetters;

const chunked = (entries, size) =>
  Array.from({ length: Math.ceil(entries.length / size) }, (_, index) =>
    entries.slice(index * size, (index + 1) * size),
  );

exports.lostDeadLetterAlarms = async (osls) =>
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
