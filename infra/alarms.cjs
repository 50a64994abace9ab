const { accountAlarms } = require("./alarms/accounts.cjs");
const { commandAlarms, happeningAlarms } = require("./alarms/commands.cjs");
const { functionAlarms } = require("./alarms/functions.cjs");
const { pollerAlarms } = require("./alarms/poller.cjs");
const { queueAlarms } = require("./alarms/queues.cjs");
const { configured } = require("./configured.cjs");

/** @param actions what each alarm does, by the name that CloudFormation has for it */
const acting = (alarms, actions) =>
  Object.fromEntries(
    Object.entries(alarms).map(([id, { Properties, ...alarm }]) => [
      id,
      { ...alarm, Properties: { ...Properties, ...actions } },
    ]),
  );

/** Every alarm says in its description what it means and where in README.md to go on. */
module.exports = async (osls) => {
  const { accounts } = await configured(osls);
  const functions = await osls.resolveVariable("self:functions");
  const topicArn = String((await osls.resolveVariable("param:alarmTopicArn")) ?? "");
  const states = {
    ...accountAlarms(accounts.accounts),
    ...pollerAlarms,
    ...commandAlarms,
    ...queueAlarms,
    ...functionAlarms(Object.keys(functions)),
  };
  if (topicArn === "") return { ...states, ...happeningAlarms };
  const told = [topicArn];
  return {
    ...acting(states, { AlarmActions: told, OKActions: told }),
    // That nothing more of the kind has happened for five minutes is no news, and not its end.
    ...acting(happeningAlarms, { AlarmActions: told }),
  };
};
