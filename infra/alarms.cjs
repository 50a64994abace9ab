const { accountAlarms } = require("./alarms/accounts.cjs");
const { commandAlarms } = require("./alarms/commands.cjs");
const { functionAlarms } = require("./alarms/functions.cjs");
const { queueAlarms } = require("./alarms/queues.cjs");
const { configured } = require("./configured.cjs");

/** Tells the topic of an alarm's begin and end. */
const telling = (topicArn, { Properties, ...alarm }) => ({
  ...alarm,
  Properties: { ...Properties, AlarmActions: [topicArn], OKActions: [topicArn] },
});

/** Every alarm says in its description what it means and where in README.md to go on. */
module.exports = async (osls) => {
  const { accounts } = await configured(osls);
  const functions = await osls.resolveVariable("self:functions");
  const topicArn = String((await osls.resolveVariable("param:alarmTopicArn")) ?? "");
  const alarms = {
    ...accountAlarms(accounts.accounts),
    ...commandAlarms,
    ...queueAlarms,
    ...functionAlarms(Object.keys(functions)),
  };
  if (topicArn === "") return alarms;
  return Object.fromEntries(
    Object.entries(alarms).map(([id, alarm]) => [id, telling(topicArn, alarm)]),
  );
};
