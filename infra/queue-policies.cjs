const { arnOf } = require("./arn.cjs");

/** SQS also answers plain HTTP, in which anyone on the way could read a signed request and its reply. */
const NO_PLAIN_HTTP = {
  Sid: "NoPlainHttp",
  Effect: "Deny",
  Principal: "*",
  Action: "sqs:*",
  Condition: { Bool: { "aws:SecureTransport": "false" } },
};

/** @param statements about sending to the queue */
const policyOf = (queue, statements) => ({
  Type: "AWS::SQS::QueuePolicy",
  Properties: {
    Queues: [{ Ref: queue }],
    PolicyDocument: {
      Version: "2012-10-17",
      Statement: [
        NO_PLAIN_HTTP,
        ...statements.map((statement) => ({ ...statement, Action: "sqs:SendMessage" })),
      ].map((statement) => ({ ...statement, Resource: arnOf(queue) })),
    },
  },
});

/** Of a dead-letter queue that SQS itself fills. */
exports.encryptedOnly = (queue) => policyOf(queue, []);

const EVENT_BRIDGE = { Effect: "Allow", Principal: { Service: "events.amazonaws.com" } };

/** Roles and users: a service that acts for us has no AWS account of its own. */
const NO_OTHER_AWS_ACCOUNT = {
  Sid: "NoOtherAwsAccount",
  Effect: "Deny",
  Principal: "*",
  Condition: {
    StringNotEqualsIfExists: { "aws:PrincipalAccount": { Ref: "AWS::AccountId" } },
    BoolIfExists: { "aws:PrincipalIsAWSService": "false" },
  },
};

/** Lets rules of EventBridge put what they could not deliver into a dead-letter queue. */
exports.deadLetterPolicy = (queue, condition) =>
  policyOf(queue, [{ ...EVENT_BRIDGE, Condition: condition }]);

/**
 * Only our own AWS account sends what functions read: a command on the direct queue has our own
 * rights. Without any policy it would be so too, but an "allow" that an operator adds would change it,
 * and no "allow" goes before a "deny". The first statement is about roles and users, the second
 * about AWS services, which have no account of their own and say for whose resource they act.
 */
exports.sentByUsOnly = (queue) =>
  policyOf(queue, [
    NO_OTHER_AWS_ACCOUNT,
    {
      Sid: "NoServiceForAnotherAwsAccount",
      Effect: "Deny",
      Principal: "*",
      Condition: {
        StringNotEqualsIfExists: { "aws:SourceAccount": { Ref: "AWS::AccountId" } },
        Bool: { "aws:PrincipalIsAWSService": "true" },
      },
    },
  ]);

/**
 * Only these rules send, and principals of our own AWS account whose own policies allow it, such as a
 * person who redrives dead letters. A message says for itself which AWS account its event is of, so
 * that right is the right to speak for every sender.
 * @param ruleArns patterns of ARNs: one ARN for each of 300 rules would exceed the size of a policy
 */
exports.sentByRulesOnly = (queue, ruleArns) =>
  policyOf(queue, [
    {
      Sid: "RulesOfThisStage",
      ...EVENT_BRIDGE,
      Condition: { ArnLike: { "aws:SourceArn": ruleArns } },
    },
    {
      Sid: "NoOtherService",
      Effect: "Deny",
      Principal: "*",
      Condition: {
        ArnNotLike: { "aws:SourceArn": ruleArns },
        Bool: { "aws:PrincipalIsAWSService": "true" },
      },
    },
    NO_OTHER_AWS_ACCOUNT,
  ]);
