const { delivery } = require("../lib/platform/deployment.json");
const { arnOf, ruleArn } = require("./arn.cjs");
const { configured } = require("./configured.cjs");
const { nameOf } = require("./name.cjs");
const { deadLetterPolicy, encryptedOnly } = require("./queue-policies.cjs");
const { serviceRole } = require("./service-role.cjs");

/** How long EventBridge tries to deliver; what comes later is for an operator. */
const RETRY_POLICY = {
  MaximumEventAgeInSeconds: delivery.rules.eventAgeSeconds,
  MaximumRetryAttempts: delivery.rules.retryAttempts,
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
          // Only what we put ourselves; somebody else's event may call itself ours.
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
module.exports = async (osls) => {
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
