const { arnOf } = require("./arn.cjs");
const { configured } = require("./configured.cjs");
const { STATE } = require("./kill-switch.cjs");
const { nameOf, STAGE } = require("./name.cjs");
const { serviceRole } = require("./service-role.cjs");

/**
 * What a tick is to a function: documented keywords of Scheduler, instead of what it sends by default.
 * A repeated attempt has another id and the same time, by which snapshot-prices knows its run.
 */
const TICK = JSON.stringify({
  id: "<aws.scheduler.execution-id>",
  time: "<aws.scheduler.scheduled-time>",
});

/**
 * A schedule that calls a function, and the role that lets it. Stages had schedules of other ids and names
 * in the default group. CloudFormation cannot move a schedule into a group: it looks for it there, and the
 * update fails. So these are new, and the update deletes the others when these exist.
 * @param maxAgeSeconds a tick that is older is kept as a dead letter instead of being tried again
 */
const schedule = ({ id, thing, target, expression, maxAgeSeconds }) => ({
  [id]: {
    Type: "AWS::Scheduler::Schedule",
    Properties: {
      Name: nameOf(`${thing}-tick`),
      GroupName: { Ref: "ScheduleGroup" },
      State: STATE,
      ScheduleExpression: expression,
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: {
        Arn: arnOf(target),
        RoleArn: arnOf(`${id}Role`),
        Input: TICK,
        RetryPolicy: { MaximumEventAgeInSeconds: maxAgeSeconds, MaximumRetryAttempts: 2 },
        DeadLetterConfig: { Arn: arnOf("ScheduleDeadLetter") },
      },
    },
  },
  [`${id}Role`]: serviceRole(
    "scheduler.amazonaws.com",
    "schedule",
    [
      { Effect: "Allow", Action: ["lambda:InvokeFunction"], Resource: [arnOf(target)] },
      { Effect: "Allow", Action: ["sqs:SendMessage"], Resource: [arnOf("ScheduleDeadLetter")] },
    ],
    // The group: of a single schedule's ARN its user guide says that it must not stand here.
    { ArnEquals: { "aws:SourceArn": arnOf("ScheduleGroup") } },
  ),
});

const AI_TASKS = schedule({
  id: "AiTaskTick",
  thing: "ai-tasks",
  target: "WatchDashaiDashtasksLambdaFunction",
  expression: "rate(1 minute)",
  maxAgeSeconds: 60,
});

module.exports = async (osls) => ({
  /** Of this stage alone: for its roles' trust, and because Scheduler counts by group. */
  ScheduleGroup: { Type: "AWS::Scheduler::ScheduleGroup", Properties: { Name: STAGE } },
  /** The safety net under the wake queue: whatever is due is seen within a minute. */
  ...schedule({
    id: "PollTick",
    thing: "poll-tasks",
    target: "PollDashtasksLambdaFunction",
    expression: "rate(1 minute)",
    // An older tick has been replaced by the next; 60 s is also the least allowed.
    maxAgeSeconds: 60,
  }),
  /** Finds what was changed at the provider, and configs whose event was lost. */
  ...schedule({
    id: "DriftTick",
    thing: "threshold-drift",
    target: "SyncDashthresholdsLambdaFunction",
    expression: "rate(1 hour)",
    maxAgeSeconds: 1_800,
  }),
  /** In the middle of the hour that its run is known by, so that no tick falls into another's. */
  ...schedule({
    id: "PriceTick",
    thing: "price-snapshot",
    target: "SnapshotDashpricesLambdaFunction",
    expression: "cron(30 * * * ? *)",
    maxAgeSeconds: 1_200,
  }),
  ...((await configured(osls)).aiTaskName !== undefined && AI_TASKS),
});
