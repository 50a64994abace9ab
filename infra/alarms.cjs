const { accountAlarms } = require("./alarms/accounts.cjs");
const { commandAlarms, happeningAlarms } = require("./alarms/commands.cjs");
const { lostDeadLetterAlarms } = require("./alarms/dead-letters.cjs");
const { functionAlarms } = require("./alarms/functions.cjs");
const { ledgerAlarms } = require("./alarms/ledger.cjs");
const { pollerAlarms } = require("./alarms/poller.cjs");
const { queueAlarms } = require("./alarms/queues.cjs");
const { configured } = require("./configured.cjs");

const AI_TASKS = "watch-ai-tasks";

/** @param actions what each alarm does, by the name that CloudFormation has for it */
const acting = (alarms, actions) =>
  Object.fromEntries(
    Object.entries(alarms).map(([id, { Properties, ...alarm }]) => [
      id,
      { ...alarm, Properties: { ...Properties, ...actions } },
    ]),
  );

/**
 * Every alarm says in its description what it means and where in README.md to go on. None where the
 * stage is not monitored.
 */
module.exports = async (osls) => {
  const { accounts, aiTaskName, isMonitored } = await configured(osls);
  if (!isMonitored) return {};
  const functions = Object.keys(await osls.resolveVariable("self:functions"));
  // Nothing calls it: an alarm could only tell of a person's own trial.
  const called = functions.filter((name) => name !== AI_TASKS || aiTaskName !== undefined);
  const topicArn = String((await osls.resolveVariable("param:alarmTopicArn")) ?? "");
  const states = {
    ...accountAlarms(accounts.accounts),
    ...pollerAlarms,
    ...commandAlarms,
    ...queueAlarms,
    ...ledgerAlarms,
    ...functionAlarms(called),
  };
  const happenings = { ...happeningAlarms, ...(await lostDeadLetterAlarms(osls)) };
  if (topicArn === "") return { ...states, ...happenings };
  const told = [topicArn];
  return {
    ...acting(states, { AlarmActions: told, OKActions: told }),
    // That nothing more of the kind has happened for five minutes is no news, and not its end.
    ...acting(happenings, { AlarmActions: told }),
  };
};
