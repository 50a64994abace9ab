const { end } = require("./configured.cjs");

/**
 * The stack parameter `Running` stops every function without a deployment: docs/operate/stop-and-replay.md.
 * Rules continue to fill the queue `requests`, which keeps events for 4 days.
 */
const whileRunning = (yes, no) => ({ "Fn::If": ["IsRunning", yes, no] });
exports.whileRunning = whileRunning;

exports.STATE = whileRunning("ENABLED", "DISABLED");

exports.parameters = async ({ resolveVariable, refuse = end }) => {
  const running = await resolveVariable("param:running");
  // YAML reads yes and no without quotes as true and false.
  if (!["yes", "no"].includes(running))
    refuse([`running: must be yes or no (in YAML "yes" or "no"); is ${running}`]);
  return {
    Running: {
      Type: "String",
      Description: "no stops every function of the stage",
      AllowedValues: ["yes", "no"],
      // A deployment passes no value, so it sets the default, which is the stage's own. The `stackParameters` of
      // osls would fail the first deployment: its template has no parameter yet, only a bucket.
      Default: running,
    },
  };
};

exports.conditions = { IsRunning: { "Fn::Equals": [{ Ref: "Running" }, "yes"] } };

/**
 * Stops a queue's event source mapping. A reserved concurrency of 0 would not: Lambda would still receive, each
 * refused invocation would cost a message one receive, and valid messages would become dead letters.
 */
const READ_NO_QUEUE = { Properties: { Enabled: whileRunning(true, false) } };

/**
 * Stops retries. Rules and schedules of these functions are off, but Lambda may retry a failed run for an hour. At
 * a concurrency of 0 it makes a dead letter of it at once. Nothing is lost: the next run does the same work.
 */
const REPEAT_NOTHING = {
  Properties: { ReservedConcurrentExecutions: whileRunning({ Ref: "AWS::NoValue" }, 0) },
};

/** Changes to resources that osls generates; their settings in serverless.yml cannot hold a condition. */
exports.extensions = {
  IntakeEventSourceMappingSQSRequestQueue: READ_NO_QUEUE,
  RunDashcommandsEventSourceMappingSQSCommandQueue: READ_NO_QUEUE,
  PollDashtasksEventSourceMappingSQSWakeQueue: READ_NO_QUEUE,
  SyncDashthresholdsLambdaFunction: REPEAT_NOTHING,
  SnapshotDashpricesLambdaFunction: REPEAT_NOTHING,
  WatchDashaiDashtasksLambdaFunction: REPEAT_NOTHING,
};
