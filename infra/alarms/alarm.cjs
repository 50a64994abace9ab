const { nameOf, STAGE } = require("../name.cjs");

/** The dimension of every metric of ours. */
const SERVICE = { Name: "service", Value: STAGE };

/** What all alarms have; it comes when the value is 1 or more. */
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

/**
 * An alarm. Unless it says otherwise it adds up five minutes, and comes when that is 1 or more.
 * @param its `description`: what it means for the operator on call, without a full stop; `runbook`: a
 * heading of README.md; and properties of CloudFormation that differ
 */
exports.alarm = (its) => alarmOn({ Statistic: "Sum", Period: 300, ...its });

const dimensionsOf = ([Name, Value, ...more]) =>
  Name === undefined ? [] : [{ Name, Value }, ...dimensionsOf(more)];

/**
 * An alarm on the sum of metrics over five minutes.
 * @param metrics at most 10, each as a graph of a dashboard has it: namespace, name, dimensions
 */
exports.sumAlarm = ({ metrics, ...its }) =>
  alarmOn({
    ...its,
    Metrics: [
      { Id: "sum", Expression: "SUM(METRICS())", Label: "all", ReturnData: true },
      ...metrics.map(([Namespace, MetricName, ...dimensions], index) => ({
        Id: `m${index + 1}`,
        MetricStat: {
          Metric: { Namespace, MetricName, Dimensions: dimensionsOf(dimensions) },
          Period: 300,
          Stat: "Sum",
        },
        ReturnData: false,
      })),
    ],
  });

/**
 * Of lib/platform/ports/metrics.ts.
 * @param dimensions in CloudWatch's shape, beside the stage
 */
exports.ours = (metric, ...dimensions) => ({
  Namespace: "skyhook",
  MetricName: metric,
  Dimensions: [SERVICE, ...dimensions],
});
