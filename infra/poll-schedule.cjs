const { nameOf } = require("./name.cjs");

const POLL_TASKS_ARN = { "Fn::GetAtt": ["PollDashtasksLambdaFunction", "Arn"] };
const DEAD_LETTER_ARN = { "Fn::GetAtt": ["PollScheduleDeadLetter", "Arn"] };

module.exports = {
  /** The safety net under the wake queue: whatever is due is seen within a minute. */
  PollSchedule: {
    Type: "AWS::Scheduler::Schedule",
    Properties: {
      Name: nameOf("poll-tasks"),
      ScheduleExpression: "rate(1 minute)",
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: {
        Arn: POLL_TASKS_ARN,
        RoleArn: { "Fn::GetAtt": ["PollScheduleRole", "Arn"] },
        // A tick older than a minute has been replaced by the next; 60 s is also the least allowed.
        RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 2 },
        DeadLetterConfig: { Arn: DEAD_LETTER_ARN },
      },
    },
  },
  PollScheduleRole: {
    Type: "AWS::IAM::Role",
    Properties: {
      AssumeRolePolicyDocument: {
        Version: "2012-10-17",
        Statement: [
          {
            Effect: "Allow",
            Principal: { Service: "scheduler.amazonaws.com" },
            Action: "sts:AssumeRole",
            // So that nobody else's schedule can use the role through the shared service.
            Condition: { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } },
          },
        ],
      },
      Policies: [
        {
          PolicyName: "schedule",
          PolicyDocument: {
            Version: "2012-10-17",
            Statement: [
              { Effect: "Allow", Action: ["lambda:InvokeFunction"], Resource: [POLL_TASKS_ARN] },
              { Effect: "Allow", Action: ["sqs:SendMessage"], Resource: [DEAD_LETTER_ARN] },
            ],
          },
        },
      ],
    },
  },
};
