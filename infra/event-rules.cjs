const { delivery } = require("../lib/platform/deployment.json");
const { configured } = require("./configured.cjs");
const { arnOf, hashOf, logicalIdOf, nameOf, ruleArn } = require("./names.cjs");
const { deadLetterPolicy, encryptedOnly, sentByRulesOnly } = require("./queues.cjs");
const { serviceRole } = require("./roles.cjs");

/** Limits of EventBridge's retries of a delivery. After them, the event is a dead letter. */
const RETRY_POLICY = {
  MaximumEventAgeInSeconds: delivery.rules.eventAgeSeconds,
  MaximumRetryAttempts: delivery.rules.retryAttempts,
};

const INTAKE = "IntakeLambdaFunction";

/** A rule's name has at most 64 characters, of which the name of a stage takes up to 12. */
const MAX_NAME_LENGTH = 34;

const shortened = (name) =>
  name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, MAX_NAME_LENGTH - 9)}-${hashOf(name)}`;

/**
 * A pattern as a string. In an object CloudFormation refuses null and turns numbers and booleans into strings.
 * Dollar signs are escaped, because osls would read a variable after one.
 */
const textOf = (pattern) => JSON.stringify(pattern).replaceAll("$", "\\u0024");

/**
 * A reaction to Skyhook's own events matches only events that Skyhook's own AWS account puts, and no replay of
 * the archive: replays are for subscribers and must not run commands.
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
  // The id of an earlier target, the function itself. EventBridge replaces a target of the same id at once.
  Id: "intake",
  Arn: arnOf("RequestQueue"),
  RetryPolicy: RETRY_POLICY,
  DeadLetterConfig: { Arn: arnOf("IntakeDeadLetter") },
  ...more,
});

/**
 * A rule sends to the queue from the moment of its creation or update, so the queue's policies and its reader must
 * exist before. EventBridge does not retry an event that a policy denies. And if a deployment fails, CloudFormation
 * removes the queue with its messages, so intake must read it by then.
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
 * In stages from before this queue, rules invoke the function directly. That must stay allowed while a deployment
 * updates the rules, and while EventBridge still uses their earlier targets.
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

/** Everything that fills the queue `requests`: a rule for requests and one for each reaction, with their policies. */
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
          // Skyhook never requests a command by an event, so a request with its source has another sender.
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
 * The rule and role that forward events of one AWS account's commands to its bus. EventBridge forwards an event
 * from bus to bus only once. Skyhook puts these events on its own bus, so this is the first time.
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
          // Only events of Skyhook's own AWS account: another one can use the same source.
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

/** Rules and roles for each AWS account with a `bus` in the accounts file. */
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
