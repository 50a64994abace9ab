const { nameOf } = require("../name.cjs");
const { alarm } = require("./alarm.cjs");

const ofFunction = (name, metric) => ({
  Namespace: "AWS/Lambda",
  MetricName: metric,
  Dimensions: [{ Name: "FunctionName", Value: nameOf(name) }],
});

/** `run-commands` as `RunCommands`. */
const pascalCaseOf = (name) =>
  name
    .split("-")
    .map((word) => `${word[0].toUpperCase()}${word.slice(1)}`)
    .join("");

/** @param names of all functions */
exports.functionAlarms = (names) =>
  Object.fromEntries(
    names.flatMap((name) => [
      [
        `${pascalCaseOf(name)}Fails`,
        alarm({
          name: `${name}-errors`,
          description: `${name} has failed three times within 15 minutes: what it does is not done`,
          runbook: "A function fails",
          ...ofFunction(name, "Errors"),
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
          ...ofFunction(name, "Throttles"),
          // A burst is over by then. Nothing is lost meanwhile: Lambda or the queue keeps the calls.
          EvaluationPeriods: 3,
        }),
      ],
    ]),
  );
