const { archiveRetentionDays } = require("../lib/platform/deployment.json");
const { configured } = require("./configured.cjs");
const { arnOf, nameOf } = require("./names.cjs");
const { functionRoles } = require("./roles.cjs");

/**
 * No event that calls itself ours, however many events a request holds: the key has a value for
 * each. "For all values" is also true of none, so there has to be one. Holds for what rules of other
 * buses send here too: they keep the event's source.
 */
const notOurs = (eventSource) => ({
  "ForAllValues:StringNotEquals": { "events:source": [eventSource] },
  Null: { "events:source": "false" },
});

/**
 * Denies events of our own source to every principal but our functions' roles: subscribers and the archive take
 * such events for what Skyhook has done. No "allow" of a role goes before it. Replays of the archive come
 * from EventBridge itself, which has no principal's ARN.
 */
const oursFromOthers = (eventSource, roles) => ({
  "ForAnyValue:StringEquals": { "events:source": [eventSource] },
  ArnNotLike: { "aws:PrincipalArn": roles.map(arnOf) },
  Null: { "aws:PrincipalArn": "false" },
});

/**
 * @param statement its id says the stage too: CloudFormation refuses an id that another stack of the AWS
 * account and region has, although EventBridge does not
 */
const putPolicy = (effect, statement, principal, condition) => ({
  Type: "AWS::Events::EventBusPolicy",
  Properties: {
    EventBusName: { Ref: "EventBus" },
    StatementId: nameOf(statement),
    Statement: {
      Effect: effect,
      Principal: principal,
      Action: "events:PutEvents",
      Resource: arnOf("EventBus"),
      Condition: condition,
    },
  },
});

const rootOf = ({ id }) => ({ "Fn::Sub": `arn:\${AWS::Partition}:iam::${id}:root` });

/** The bus, its archive, who alone may put events of ours on it, and which other AWS accounts may put theirs. */
module.exports = async (osls) => {
  const { accounts, eventSource } = await configured(osls);
  const { awsAccounts, organization } = accounts;
  const condition = notOurs(eventSource);
  return {
    EventBus: {
      Type: "AWS::Events::EventBus",
      Properties: { Name: nameOf("events") },
    },
    OnlyOurFunctionsMayPut: putPolicy(
      "Deny",
      "own-source",
      "*",
      oursFromOthers(eventSource, Object.keys(await functionRoles(osls))),
    ),
    ...(awsAccounts.length > 0 && {
      AwsAccountsMayPut: putPolicy(
        "Allow",
        "aws-accounts",
        { AWS: awsAccounts.map(rootOf) },
        condition,
      ),
    }),
    ...(organization && {
      OrganizationMayPut: putPolicy("Allow", "organization", "*", {
        ...condition,
        StringEquals: { "aws:PrincipalOrgID": organization },
      }),
    }),
    /**
     * What went out, to be replayed for a subscriber that lost it. Never what came in: a replay would ask
     * for everything again.
     */
    OutgoingArchive: {
      Type: "AWS::Events::Archive",
      Properties: {
        ArchiveName: nameOf("outgoing"),
        Description: "Events that Skyhook has published",
        SourceArn: arnOf("EventBus"),
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of osls
        EventPattern: { source: ["${param:eventSource}"], account: [{ Ref: "AWS::AccountId" }] },
        RetentionDays: archiveRetentionDays,
      },
    },
  };
};
