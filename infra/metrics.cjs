const { configBucket } = require("./config-bucket.cjs");
const { intakeRules, subscribers } = require("./event-rules.cjs");
const { nameOf, STAGE } = require("./names.cjs");

/*
 * Metrics as arrays, in the form of a dashboard's graph: namespace, name, then name and value of each dimension.
 */

/** A metric of lib/platform/ports/metrics.ts. */
exports.ours = (metric, ...dimensions) => ["skyhook", metric, "service", STAGE, ...dimensions];

const ofFunction = (metric, name) => ["AWS/Lambda", metric, "FunctionName", nameOf(name)];
exports.ofFunction = ofFunction;

/** Metrics of a rule on the default bus have no dimension `EventBusName`. */
const ofRule = ({ Name, EventBusName }) => [
  ...["AWS/Events", "InvocationsFailedToBeSentToDlq"],
  ...(EventBusName ? ["EventBusName", nameOf("events")] : []),
  ...["RuleName", Name],
];

/**
 * Metrics of dead letters that could not be stored. Functions send theirs to destinations; Lambda counts
 * `DeadLetterErrors` only for functions with a dead-letter queue of their own. SQS loses no message that it
 * moves to a dead-letter queue itself.
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
