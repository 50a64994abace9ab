const { arnOf } = require("./arn.cjs");
const { configured } = require("./configured.cjs");
const { nameOf } = require("./name.cjs");

/**
 * No event that calls itself ours, however many events a request holds: the key has a value for
 * each. "For all values" is also true of none, so there has to be one. Holds for what rules of other
 * buses send here too: they keep the event's source.
 */
const notOurs = (eventSource) => ({
  "ForAllValues:StringNotEquals": { "events:source": [eventSource] },
  Null: { "events:source": "false" },
});

const mayPut = (statementId, principal, condition) => ({
  Type: "AWS::Events::EventBusPolicy",
  Properties: {
    EventBusName: { Ref: "EventBus" },
    StatementId: statementId,
    Statement: {
      Effect: "Allow",
      Principal: principal,
      Action: "events:PutEvents",
      Resource: arnOf("EventBus"),
      Condition: condition,
    },
  },
});

const rootOf = ({ id }) => ({ "Fn::Sub": `arn:\${AWS::Partition}:iam::${id}:root` });

/** The bus, and which other AWS accounts may put events on it; without any, no policy. */
module.exports = async (osls) => {
  const { accounts, eventSource } = await configured(osls);
  const { awsAccounts, organization } = accounts;
  const condition = notOurs(eventSource);
  return {
    EventBus: {
      Type: "AWS::Events::EventBus",
      Properties: { Name: nameOf("events") },
    },
    ...(awsAccounts.length > 0 && {
      AwsAccountsMayPut: mayPut("aws-accounts", { AWS: awsAccounts.map(rootOf) }, condition),
    }),
    ...(organization && {
      OrganizationMayPut: mayPut("organization", "*", {
        ...condition,
        StringEquals: { "aws:PrincipalOrgID": organization },
      }),
    }),
  };
};
