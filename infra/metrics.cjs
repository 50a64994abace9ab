const { configBucket } = require("./config-bucket.cjs");
const { intakeRules, subscribers } = require("./event-rules.cjs");
const { nameOf, STAGE } = require("./names.cjs");

/*
 * Metrics in the form of a dashboard's graph: namespace, name, and each dimension with its value.
 */

/** Of lib/platform/ports/metrics.ts. */
exports.ours = (metric, ...dimensions) => ["skyhook", metric, "service", STAGE, ...dimensions];

const ofFunction = (metric, name) => ["AWS/Lambda", metric, "FunctionName", nameOf(name)];
exports.ofFunction = ofFunction;

/** A rule of the default bus has no dimension for its bus. */
const ofRule = ({ Name, EventBusName }) => [
  ...["AWS/Events", "InvocationsFailedToBeSentToDlq"],
  ...(EventBusName ? ["EventBusName", nameOf("events")] : []),
  ...["RuleName", Name],
];

/**
 * Metrics of what could not even become a dead letter, each as a graph has it. Functions send their
 * dead letters to destinations: Lambda counts `DeadLetterErrors` only for functions that have a
 * dead-letter queue instead. What SQS itself moves cannot be lost on the way.
 */
exports.lostDeadLetters = async (osls) => {
  const resources = {
    ...(await intakeRules(osls)),
    ...(await subscribers(osls)),
    ...configBucket,
  };
  const rules = Object.values(resources).filter(({ Type }) => Type === "AWS::Events::Rule");
  const functions = Object.entries(await osls.resolveVariable("self:functions"));
  return [
    ...rules.map(({ Properties }) => ofRule(Properties)),
    ...functions
      .filter(([, { destinations }]) => destinations)
      .map(([name]) => ofFunction("DestinationDeliveryFailures", name)),
    ["AWS/Scheduler", "InvocationsFailedToBeSentToDeadLetterCount", "ScheduleGroup", STAGE],
  ];
};
