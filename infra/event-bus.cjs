const { archiveRetentionDays } = require("../lib/platform/deployment.json");
const { configured } = require("./configured.cjs");
const { arnOf, nameOf } = require("./names.cjs");
const { functionRoles } = require("./roles.cjs");

/**
 * The condition that no event of a request has Skyhook's source; the key has one value for each event.
 * `ForAllValues` is also true without any value, so the second part requires one. Events that rules of other buses
 * forward keep their source, so the condition covers them too.
 */
const notOurs = (eventSource) => ({
  "ForAllValues:StringNotEquals": { "events:source": [eventSource] },
  Null: { "events:source": "false" },
});

/**
 * The condition of a "deny" for events with Skyhook's source, for every principal but the roles of the functions:
 * subscribers and the archive trust such events. A "deny" wins over any "allow" of a role. Replays come from
 * EventBridge itself, which has no principal ARN.
 */
const oursFromOthers = (eventSource, roles) => ({
  "ForAnyValue:StringEquals": { "events:source": [eventSource] },
  ArnNotLike: { "aws:PrincipalArn": roles.map(arnOf) },
  Null: { "aws:PrincipalArn": "false" },
});

/**
 * @param statement its id without the stage. CloudFormation refuses an id that another stack of the AWS account
 * and region uses, although EventBridge allows it; so the id includes the stage.
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

/** The bus, its policy and its archive. */
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
    /** Outgoing events, for replays to subscribers. Incoming events hold secrets, and a replay would run them again. */
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
