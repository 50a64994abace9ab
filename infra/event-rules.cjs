const { delivery } = require("../lib/platform/deployment.json");
const { configured } = require("./configured.cjs");
const { arnOf, hashOf, logicalIdOf, nameOf, ruleArn } = require("./names.cjs");
const { deadLetterPolicy, encryptedOnly, sentByRulesOnly } = require("./queues.cjs");
const { serviceRole } = require("./roles.cjs");

/** How long EventBridge tries to deliver; what comes later is for an operator. */
const RETRY_POLICY = {
  MaximumEventAgeInSeconds: delivery.rules.eventAgeSeconds,
  MaximumRetryAttempts: delivery.rules.retryAttempts,
};

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
exports.intakeRules = async (osls) => {
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
          // Skyhook requests no command by an event; a request under its source comes from another sender.
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

/**
 * What takes the events of one AWS account's commands to its bus. These events were put on our bus
 * by us, so this is their first way on; one that came from another bus goes no further.
 */
const subscriber = ({ id, bus }, eventSource) => {
  const rule = `Subscriber${id}`;
  return {
    [rule]: {
      Type: "AWS::Events::Rule",
      Properties: {
        Name: nameOf(`subscriber-${id}`),
        Description: `Events of the commands of ${id}`,
        EventBusName: { Ref: "EventBus" },
        EventPattern: {
          source: [eventSource],
          // Only events that our own AWS account put; another's may carry our source.
          account: [{ Ref: "AWS::AccountId" }],
          "detail-type": [{ prefix: "Command" }, { prefix: "Task" }],
          detail: { metadata: { sender: [id] } },
        },
        Targets: [
          {
            Id: "bus",
            Arn: bus,
            RoleArn: arnOf(`${rule}Role`),
            RetryPolicy: RETRY_POLICY,
            DeadLetterConfig: { Arn: arnOf("SubscriberDeadLetter") },
          },
        ],
      },
    },
    [`${rule}Role`]: serviceRole("events.amazonaws.com", "subscriber", [
      { Effect: "Allow", Action: ["events:PutEvents"], Resource: [bus] },
    ]),
  };
};

/** A rule for each AWS account that has a bus for the events of its commands. */
exports.subscribers = async (osls) => {
  const { accounts, eventSource } = await configured(osls);
  const subscribers = accounts.awsAccounts.filter(({ bus }) => bus);
  return Object.assign({}, ...subscribers.map((each) => subscriber(each, eventSource)), {
    SubscriberDeadLetterPolicy:
      subscribers.length > 0
        ? deadLetterPolicy("SubscriberDeadLetter", {
            ArnLike: {
              "aws:SourceArn": ruleArn(`${nameOf("events")}/${nameOf("subscriber-*")}`),
            },
          })
        : encryptedOnly("SubscriberDeadLetter"),
  });
};
