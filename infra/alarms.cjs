const { configured } = require("./configured.cjs");
const { logicalIdOf, nameOf, STAGE } = require("./name.cjs");

/** While a key is refused, one request is tried in 30 s; five minutes without one are no proof. */
const keyRefused = ({ name, apiKey }, actions) => ({
  Type: "AWS::CloudWatch::Alarm",
  Properties: {
    AlarmName: nameOf(`key-refused-${name}`),
    AlarmDescription: `The provider refuses the key of the account ${name} (${apiKey.parameter}): commands wait until their deadlines, standing jobs stand still. README: "The API key is refused"`,
    Namespace: "skyhook",
    MetricName: "AccountKeyRefused",
    Dimensions: [
      { Name: "service", Value: STAGE },
      { Name: "account", Value: name },
    ],
    Statistic: "Sum",
    Period: 300,
    // Two of three: a key that was rotated in this moment is refused once, and then no more.
    EvaluationPeriods: 3,
    DatapointsToAlarm: 2,
    Threshold: 1,
    ComparisonOperator: "GreaterThanOrEqualToThreshold",
    TreatMissingData: "notBreaching",
    ...(actions && { AlarmActions: actions, OKActions: actions }),
  },
});

module.exports = async (osls) => {
  const { accounts } = await configured(osls);
  const topicArn = String((await osls.resolveVariable("param:alarmTopicArn")) ?? "");
  const actions = topicArn === "" ? undefined : [topicArn];
  return Object.fromEntries(
    accounts.accounts.map((account) => [
      logicalIdOf("KeyRefused", account.name),
      keyRefused(account, actions),
    ]),
  );
};
