const { arnOf, nameOf, STAGE } = require("./names.cjs");
const { schedules, tickRetryAttempts } = require("../lib/platform/deployment.json");
const { configured, dueShards } = require("./configured.cjs");
const { STATE } = require("./kill-switch.cjs");
const { serviceRole } = require("./roles.cjs");

/**
 * Payload of a scheduled invocation, with Scheduler's documented keywords. A retry has another id and the same
 * time, by which snapshot-prices recognises its run.
 */
const TICK = {
  id: "<aws.scheduler.execution-id>",
  time: "<aws.scheduler.scheduled-time>",
};

/** A schedule that invokes a function. @param name of the schedule in deployment.json */
const ticks = ({ name, target, role }, scheduleName, input) => ({
  Type: "AWS::Scheduler::Schedule",
  Properties: {
    Name: scheduleName,
    GroupName: { Ref: "ScheduleGroup" },
    State: STATE,
    ScheduleExpression: schedules[name].expression,
    FlexibleTimeWindow: { Mode: "OFF" },
    Target: {
      Arn: arnOf(target),
      RoleArn: arnOf(role),
      Input: JSON.stringify(input),
      RetryPolicy: {
        MaximumEventAgeInSeconds: schedules[name].tickAgeSeconds,
        MaximumRetryAttempts: tickRetryAttempts,
      },
      DeadLetterConfig: { Arn: arnOf("ScheduleDeadLetter") },
    },
  },
});

/**
 * A schedule that invokes a function, and its role. Earlier stages had schedules in the default group.
 * CloudFormation cannot move a schedule between groups: it looks for it in the new group and the update fails. So
 * these have new ids and names, and the update deletes the old ones after it has created these.
 * @param name of the schedule in deployment.json
 */
const schedule = ({ id, name, target }) => ({
  [id]: ticks({ name, target, role: `${id}Role` }, nameOf(`${name}-tick`), TICK),
  [`${id}Role`]: serviceRole(
    "scheduler.amazonaws.com",
    "schedule",
    [
      { Effect: "Allow", Action: ["lambda:InvokeFunction"], Resource: [arnOf(target)] },
      { Effect: "Allow", Action: ["sqs:SendMessage"], Resource: [arnOf("ScheduleDeadLetter")] },
    ],
    // The ARN of the group. Scheduler's user guide forbids the ARN of a single schedule here.
    { ArnEquals: { "aws:SourceArn": arnOf("ScheduleGroup") } },
  ),
});

const POLLER = { id: "PollTick", name: "poll-tasks", target: "PollDashtasksLambdaFunction" };

/** The schedules of all shards of the due index but the first, which share its role. */
const ticksOfOtherShards = (count) =>
  Object.fromEntries(
    Array.from({ length: count - 1 }, (_, index) => index + 1).map((shard) => [
      `${POLLER.id}${shard}`,
      ticks({ ...POLLER, role: `${POLLER.id}Role` }, nameOf(`${POLLER.name}-tick-${shard}`), {
        ...TICK,
        shard,
      }),
    ]),
  );

module.exports = async (osls) => ({
  /** A group of its own, for the trust of the roles, and because Scheduler's metrics are per group. */
  ScheduleGroup: { Type: "AWS::Scheduler::ScheduleGroup", Properties: { Name: STAGE } },
  ...schedule(POLLER),
  ...ticksOfOtherShards(await dueShards(osls)),
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
