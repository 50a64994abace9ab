const { nameOf, STAGE } = require("../name.cjs");

/** The dimension of every metric of ours. */
const SERVICE = { Name: "service", Value: STAGE };

/**
 * An alarm. Unless it says otherwise it adds up five minutes, and comes when that is 1 or more.
 * @param description what it means for whoever is woken, without a full stop
 * @param runbook a heading of README.md
 * @param more properties of CloudFormation that differ
 */
exports.alarm = ({ name, description, runbook, ...more }) => ({
  Type: "AWS::CloudWatch::Alarm",
  Properties: {
    AlarmName: nameOf(name),
    AlarmDescription: `${description}. README: "${runbook}"`,
    Statistic: "Sum",
    Period: 300,
    EvaluationPeriods: 1,
    Threshold: 1,
    ComparisonOperator: "GreaterThanOrEqualToThreshold",
    TreatMissingData: "notBreaching",
    ...more,
  },
});

/**
 * Of lib/ports/metrics.ts.
 * @param dimensions in CloudWatch's shape, beside the stage
 */
exports.ours = (metric, ...dimensions) => ({
  Namespace: "skyhook",
  MetricName: metric,
  Dimensions: [SERVICE, ...dimensions],
});
