const { STAGE } = require("./names.cjs");
const { attemptTimeoutSeconds, schedules } = require("../lib/platform/deployment.json");
const { configured, dueShards, PACKAGED } = require("./configured.cjs");

/*
 * Environment variables of the functions, as functions/settings.ts reads them; a test compares both. Variables
 * hold names of secrets, never secrets. A function gets the variables of `all` and its own.
 */
// biome-ignore-start lint/suspicious/noTemplateCurlyInString: variables of osls
exports.all = {
  TABLE_NAME: { Ref: "LedgerTable" },
  EVENT_BUS_NAME: { Ref: "EventBus" },
  EVENT_SOURCE: "${param:eventSource}",
  STAGE,
  // A path in the function's package.
  ACCOUNTS_FILE: PACKAGED.accounts,
  // Stack traces name the source files. This costs 12 to 17 ms of a cold start.
  NODE_OPTIONS: "--enable-source-maps",
};

/** Variables of functions that send requests to the provider. */
const ASKING = { ATTEMPT_TIMEOUT_MS: String(attemptTimeoutSeconds * 1000) };

/** Variables of functions that handle commands. */
const COMMANDS = {
  COMMAND_QUEUE_URL: { Ref: "CommandQueue" },
  OWN_SENDER: { Ref: "AWS::AccountId" },
  FINGERPRINT_KEY_PARAMETER: "${param:fingerprintKeyParameter}",
};

exports.intake = { ...COMMANDS, REACTIONS_FILE: PACKAGED.reactions };

exports.commands = async (osls) => ({
  ...ASKING,
  ...COMMANDS,
  WAKE_QUEUE_URL: { Ref: "WakeQueue" },
  DUE_SHARDS: String(await dueShards(osls)),
});

const jobOf = async (osls) => ({ ...ASKING, JOB_ACCOUNT: (await configured(osls)).jobAccount });

exports.thresholds = async (osls) => ({
  ...(await jobOf(osls)),
  CONFIG_BUCKET: { Ref: "ConfigBucket" },
  CONFIG_KEY: "thresholds.yaml",
});

exports.prices = async (osls) => ({
  ...(await jobOf(osls)),
  CONFIG_BUCKET: { Ref: "ConfigBucket" },
  CONFIG_KEY: "watchlist.yaml",
  PERIOD_SECONDS: String(schedules["price-snapshot"].periodSeconds),
});

exports.aiTasks = async (osls) => ({
  ...(await jobOf(osls)),
  // Without a schedule only an operator starts it, for all tasks.
  AI_TASK_NAME: (await configured(osls)).aiTaskName ?? "",
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above
