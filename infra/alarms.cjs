const { configured } = require("./configured.cjs");
const { logicalIdOf, nameOf, STAGE } = require("./name.cjs");

/**
 * What keeps an account's requests from leaving until somebody does something. Both are tried again
 * and again, and a refused key once in 30 s: five minutes without one are no proof.
 */
const TROUBLES = [
  {
    id: "KeyRefused",
    slug: "key-refused",
    metric: "AccountKeyRefused",
    what: ({ name, apiKey }) =>
      `The provider refuses the key of the account ${name} (${apiKey.parameter})`,
  },
  {
    id: "KeyUnreadable",
    slug: "key-unreadable",
    metric: "AccountKeyUnreadable",
    what: ({ name, apiKey }) =>
      `The key of the account ${name} cannot be read from ${apiKey.parameter}, or no header can carry it`,
  },
];

const alarmOf = ({ slug, metric, what }, account, actions) => ({
  Type: "AWS::CloudWatch::Alarm",
  Properties: {
    AlarmName: nameOf(`${slug}-${account.name}`),
    AlarmDescription: `${what(account)}: commands wait until their deadlines, standing jobs stand still. README: "The API key is refused"`,
    Namespace: "skyhook",
    MetricName: metric,
    Dimensions: [
      { Name: "service", Value: STAGE },
      { Name: "account", Value: account.name },
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
    accounts.accounts.flatMap((account) =>
      TROUBLES.map((trouble) => [
        logicalIdOf(trouble.id, account.name),
        alarmOf(trouble, account, actions),
      ]),
    ),
  );
};
