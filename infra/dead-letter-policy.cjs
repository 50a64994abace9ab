const { arnOf } = require("./arn.cjs");

/** Lets rules of EventBridge put what they could not deliver into a dead-letter queue. */
exports.deadLetterPolicy = (queue, condition) => ({
  Type: "AWS::SQS::QueuePolicy",
  Properties: {
    Queues: [{ Ref: queue }],
    PolicyDocument: {
      Version: "2012-10-17",
      Statement: [
        {
          Effect: "Allow",
          Principal: { Service: "events.amazonaws.com" },
          Action: "sqs:SendMessage",
          Resource: arnOf(queue),
          Condition: condition,
        },
      ],
    },
  },
});
