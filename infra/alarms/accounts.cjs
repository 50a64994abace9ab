const { logicalIdOf } = require("../name.cjs");
const { alarm, ours } = require("./alarm.cjs");

/**
 * What keeps an account's requests from leaving until somebody does something. Both are tried again
 * and again, and a refused key once in 30 s: five minutes without one are no proof.
 */
const TROUBLES = [
  {
    id: "KeyRefused",
    slug: "key-refused",
    metric: "AccountKeyRefused",
    what: ({ name, apiKey }) =>
      `The provider refuses the key of the account ${name} (${apiKey.parameter})`,
  },
  {
    id: "KeyUnreadable",
    slug: "key-unreadable",
    metric: "AccountKeyUnreadable",
    what: ({ name, apiKey }) =>
      `The key of the account ${name} cannot be read from ${apiKey.parameter}, or no header can carry it`,
  },
];

const alarmOf = ({ slug, metric, what }, account) =>
  alarm({
    name: `${slug}-${account.name}`,
    description: `${what(account)}: commands wait until their deadlines, standing jobs stand still`,
    runbook: "The API key is refused",
    ...ours(metric, { Name: "account", Value: account.name }),
    // Two of three: a key that was rotated in this moment is refused once, and then no more.
    EvaluationPeriods: 3,
    DatapointsToAlarm: 2,
  });

/** @param accounts those at the provider, as the accounts file lists them */
exports.accountAlarms = (accounts) =>
  Object.fromEntries(
    accounts.flatMap((account) =>
      TROUBLES.map((trouble) => [logicalIdOf(trouble.id, account.name), alarmOf(trouble, account)]),
    ),
  );
