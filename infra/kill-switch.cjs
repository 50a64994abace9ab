/**
 * Stops what works off queues and the clock, without packaging or deploying: README, "Stop everything".
 * Intake goes on: it asks the provider nothing, and what it hands over waits in the command queue.
 */
const whileRunning = (yes, no) => ({ "Fn::If": ["IsRunning", yes, no] });

const ENABLED = whileRunning(true, false);
exports.ENABLED = ENABLED;
exports.STATE = whileRunning("ENABLED", "DISABLED");

exports.parameters = {
  Running: {
    Type: "String",
    Description: "no stops everything but intake",
    AllowedValues: ["yes", "no"],
    // A deployment names no value, and so sets what its stage says. Named by osls's
    // `stackParameters`, the very first one would fail: its template has the bucket and nothing else.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of osls
    Default: "${param:running}",
  },
};

exports.conditions = { IsRunning: { "Fn::Equals": [{ Ref: "Running" }, "yes"] } };

/**
 * Of what osls makes, where a condition has no place. Not a reserved concurrency of 0: Lambda would go on
 * receiving, each refused call would cost a message a receive, and good ones would become dead letters.
 */
exports.mappings = {
  RunDashcommandsEventSourceMappingSQSCommandQueue: { Properties: { Enabled: ENABLED } },
  PollDashtasksEventSourceMappingSQSWakeQueue: { Properties: { Enabled: ENABLED } },
};
