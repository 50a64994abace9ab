/** Every statement of every role, in full. What is not here, nobody may do. */

const arn = (logicalId: string) => ({ "Fn::GetAtt": [logicalId, "Arn"] });
const parameter = (name: string) => ({
  "Fn::Sub": `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter${name}`,
});

export const STATEMENTS = {
  RunCommandsRole: [
    {
      Effect: "Allow",
      Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
      Resource: [arn("RunDashcommandsLogGroup")],
    },
    {
      Effect: "Allow",
      Action: ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
      Resource: [arn("CommandQueue")],
    },
    {
      Effect: "Allow",
      Action: ["dynamodb:GetItem", "dynamodb:PutItem"],
      Resource: [arn("LedgerTable")],
    },
    {
      Effect: "Allow",
      Action: ["sqs:SendMessage"],
      Resource: [arn("CommandQueue"), arn("WakeQueue")],
    },
    { Effect: "Allow", Action: ["events:PutEvents"], Resource: [arn("EventBus")] },
    {
      Effect: "Allow",
      Action: ["ssm:GetParameter"],
      Resource: [parameter("/skyhook/dev/api-key"), parameter("/skyhook/dev/fingerprint-key")],
    },
  ],
  PollTasksRole: [
    {
      Effect: "Allow",
      Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
      Resource: [arn("PollDashtasksLogGroup")],
    },
    {
      Effect: "Allow",
      Action: ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
      Resource: [arn("WakeQueue")],
    },
    {
      Effect: "Allow",
      Action: ["dynamodb:Query"],
      Resource: [{ "Fn::Sub": [`\${table}/index/due`, { table: arn("LedgerTable") }] }],
    },
    {
      Effect: "Allow",
      Action: ["dynamodb:GetItem", "dynamodb:PutItem"],
      Resource: [arn("LedgerTable")],
    },
    {
      Effect: "Allow",
      Action: ["sqs:SendMessage"],
      Resource: [arn("CommandQueue"), arn("WakeQueue")],
    },
    { Effect: "Allow", Action: ["events:PutEvents"], Resource: [arn("EventBus")] },
    {
      Effect: "Allow",
      Action: ["ssm:GetParameter"],
      Resource: [parameter("/skyhook/dev/api-key"), parameter("/skyhook/dev/fingerprint-key")],
    },
  ],
  PollScheduleRole: [
    {
      Effect: "Allow",
      Action: ["lambda:InvokeFunction"],
      Resource: [arn("PollDashtasksLambdaFunction")],
    },
    { Effect: "Allow", Action: ["sqs:SendMessage"], Resource: [arn("PollScheduleDeadLetter")] },
  ],
};

const trust = (service: string) => ({
  Effect: "Allow",
  Principal: { Service: service },
  Action: "sts:AssumeRole",
});

/** Who may take a role, and on what condition. */
export const TRUST = {
  RunCommandsRole: [trust("lambda.amazonaws.com")],
  PollTasksRole: [trust("lambda.amazonaws.com")],
  PollScheduleRole: [
    {
      ...trust("scheduler.amazonaws.com"),
      Condition: { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } },
    },
  ],
};
