const { arnOf, nameOf, STAGE } = require("./names.cjs");
const { schedules, tickRetryAttempts } = require("../lib/platform/deployment.json");
const { configured } = require("./configured.cjs");
const { STATE } = require("./kill-switch.cjs");
const { serviceRole } = require("./roles.cjs");

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
 * @param name of the schedule
 */
const schedule = ({ id, name, target }) => ({
  [id]: {
    Type: "AWS::Scheduler::Schedule",
    Properties: {
      Name: nameOf(`${name}-tick`),
      GroupName: { Ref: "ScheduleGroup" },
      State: STATE,
      ScheduleExpression: schedules[name].expression,
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: {
        Arn: arnOf(target),
        RoleArn: arnOf(`${id}Role`),
        Input: TICK,
        RetryPolicy: {
          MaximumEventAgeInSeconds: schedules[name].tickAgeSeconds,
          MaximumRetryAttempts: tickRetryAttempts,
        },
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

module.exports = async (osls) => ({
  /** Of this stage alone: for its roles' trust, and because Scheduler counts by group. */
  ScheduleGroup: { Type: "AWS::Scheduler::ScheduleGroup", Properties: { Name: STAGE } },
  ...schedule({ id: "PollTick", name: "poll-tasks", target: "PollDashtasksLambdaFunction" }),
  ...schedule({
    id: "DriftTick",
    name: "threshold-drift",
    target: "SyncDashthresholdsLambdaFunction",
  }),
  ...schedule({
    id: "PriceTick",
    name: "price-snapshot",
    target: "SnapshotDashpricesLambdaFunction",
  }),
  ...((await configured(osls)).aiTaskName !== undefined &&
    schedule({
      id: "AiTaskTick",
      name: "ai-tasks",
      target: "WatchDashaiDashtasksLambdaFunction",
    })),
});
