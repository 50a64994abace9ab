const { delivery } = require("../lib/platform/deployment.json");
const { arnOf, ruleArn } = require("./arn.cjs");
const { configured } = require("./configured.cjs");
const { hashOf, logicalIdOf, nameOf } = require("./name.cjs");
const { deadLetterPolicy, sentByRulesOnly } = require("./queue-policies.cjs");

const INTAKE = "IntakeLambdaFunction";

/** A name of EventBridge has 64 characters; a stage's may take 12 of them. */
const MAX_NAME_LENGTH = 34;

const shortened = (name) =>
  name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, MAX_NAME_LENGTH - 9)}-${hashOf(name)}`;

/**
 * A pattern as a text: CloudFormation refuses null in an object, and has turned numbers and
 * booleans in it into texts. No dollar sign, or osls would take what follows for a variable.
 */
const textOf = (pattern) => JSON.stringify(pattern).replaceAll("$", "\\u0024");

/**
 * A reaction to our own events is one to those that our own AWS account puts, the first time: a replay
 * of the archive is for subscribers and runs nothing.
 */
const patternOf = (when, eventSource) =>
  when.source.includes(eventSource)
    ? {
        "Fn::Join": [
          "",
          [
            '{"account":["',
            { Ref: "AWS::AccountId" },
            `"],"replay-name":[{"exists":false}],${textOf(when).slice("{".length)}`,
          ],
        ],
      }
    : textOf(when);

/** How long EventBridge tries to deliver; what comes later is for an operator. */
const RETRY_POLICY = {
  MaximumEventAgeInSeconds: delivery.rules.eventAgeSeconds,
  MaximumRetryAttempts: delivery.rules.retryAttempts,
};

const target = (more = {}) => ({
  // The id that the target had when it was the function: a target of the same id is replaced at once.
  Id: "intake",
  Arn: arnOf("RequestQueue"),
  RetryPolicy: RETRY_POLICY,
  DeadLetterConfig: { Arn: arnOf("IntakeDeadLetter") },
  ...more,
});

/**
 * A rule sends to the queue from the moment in which it is made or updated, so everything behind it has
 * to be there. EventBridge does not try again what a policy denies; and the queue is removed with what
 * is in it when a deployment fails and is rolled back, so that it has to be read by then.
 */
const WHEN_QUEUE_IS_READ = {
  DependsOn: [
    "RequestQueuePolicy",
    "IntakeDeadLetterPolicy",
    "IntakeEventSourceMappingSQSRequestQueue",
  ],
};

const ON_OUR_BUS = { EventBusName: { Ref: "EventBus" } };

const reactionRule = ({ name, when, bus }, eventSource) => ({
  [logicalIdOf("Reaction", name)]: {
    Type: "AWS::Events::Rule",
    ...WHEN_QUEUE_IS_READ,
    Properties: {
      Name: nameOf(`reaction-${shortened(name)}`),
      Description: `The reaction ${name}`,
      ...(bus === "skyhook" && ON_OUR_BUS),
      EventPattern: patternOf(when, eventSource),
      Targets: [
        target({
          InputTransformer: {
            InputTemplate: `{"reaction":${JSON.stringify(name)},"event":<aws.events.event.json>}`,
          },
        }),
      ],
    },
  },
});

/**
 * Rules of stages deployed before this queue call the function itself. While a deployment updates them,
 * and for as long as EventBridge still uses the target that a rule had, such a call has to be allowed.
 */
const mayCall = (sourceArn) => ({
  Type: "AWS::Lambda::Permission",
  Properties: {
    Action: "lambda:InvokeFunction",
    FunctionName: arnOf(INTAKE),
    Principal: "events.amazonaws.com",
    SourceArn: sourceArn,
  },
});

/** What fills the queue of intake: requests on our bus, and a rule for each reaction. */
module.exports = async (osls) => {
  const { rules, eventSource } = await configured(osls);
  const ours = ruleArn(`${nameOf("events")}/${nameOf("*")}`);
  const onDefault = ruleArn(nameOf("reaction-*"));
  const hasDefault = rules.some(({ bus }) => bus === "default");
  const ruleArns = hasDefault ? [ours, onDefault] : [ours];
  return {
    CommandsRequested: {
      Type: "AWS::Events::Rule",
      ...WHEN_QUEUE_IS_READ,
      Properties: {
        Name: nameOf("commands-requested"),
        ...ON_OUR_BUS,
        EventPattern: {
          "detail-type": ["CommandRequested", "TaskFollowRequested"],
          // Nothing of ours asks for a command by an event; who calls itself us is somebody else.
          source: [{ "anything-but": [eventSource] }],
        },
        Targets: [target()],
      },
    },
    ...Object.assign({}, ...rules.map((rule) => reactionRule(rule, eventSource))),

    RequestQueuePolicy: sentByRulesOnly("RequestQueue", ruleArns),
    RulesMayCallIntake: mayCall(ours),
    ...(hasDefault && { DefaultRulesMayCallIntake: mayCall(onDefault) }),
    IntakeDeadLetterPolicy: deadLetterPolicy("IntakeDeadLetter", {
      ArnLike: { "aws:SourceArn": ruleArns },
    }),
  };
};
