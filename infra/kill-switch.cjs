const { end } = require("./configured.cjs");

/**
 * Stops every function, without packaging or deploying: README, "Stop everything". Rules go on filling
 * the queue of intake, which keeps their events for 4 days.
 */
const whileRunning = (yes, no) => ({ "Fn::If": ["IsRunning", yes, no] });
exports.whileRunning = whileRunning;

exports.STATE = whileRunning("ENABLED", "DISABLED");

exports.parameters = async ({ resolveVariable }) => {
  const running = await resolveVariable("param:running");
  // YAML reads a bare one as true or false.
  if (!["yes", "no"].includes(running)) end(['running: "yes" or "no", in quotes']);
  return {
    Running: {
      Type: "String",
      Description: "no stops everything",
      AllowedValues: ["yes", "no"],
      // A deployment names no value, and so sets what its stage says. Named by osls's
      // `stackParameters`, the very first one would fail: its template has the bucket and nothing else.
      Default: running,
    },
  };
};

exports.conditions = { IsRunning: { "Fn::Equals": [{ Ref: "Running" }, "yes"] } };

/**
 * Not a reserved concurrency of 0: Lambda would go on receiving, each refused call would cost a message
 * a receive, and good ones would become dead letters.
 */
const READ_NO_QUEUE = { Properties: { Enabled: whileRunning(true, false) } };

/**
 * Their rules and schedules are off, but for an hour Lambda may still repeat a run that has failed. At 0 it
 * makes a dead letter of that at once, which loses nothing: the next tick does the same.
 */
const REPEAT_NOTHING = {
  Properties: { ReservedConcurrentExecutions: whileRunning({ Ref: "AWS::NoValue" }, 0) },
};

/** Of what osls makes, where a condition has no place. */
exports.extensions = {
  IntakeEventSourceMappingSQSRequestQueue: READ_NO_QUEUE,
  RunDashcommandsEventSourceMappingSQSCommandQueue: READ_NO_QUEUE,
  PollDashtasksEventSourceMappingSQSWakeQueue: READ_NO_QUEUE,
  SyncDashthresholdsLambdaFunction: REPEAT_NOTHING,
  SnapshotDashpricesLambdaFunction: REPEAT_NOTHING,
  WatchDashaiDashtasksLambdaFunction: REPEAT_NOTHING,
};
