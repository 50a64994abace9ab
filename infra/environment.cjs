const { STAGE } = require("./names.cjs");
const { attemptTimeoutSeconds, schedules } = require("../lib/platform/deployment.json");
const { configured, PACKAGED } = require("./configured.cjs");

/**
 * The settings of functions/settings.ts; a test compares the two. Secrets come by their names. A
 * function gets those of all functions and its own.
 */
// biome-ignore-start lint/suspicious/noTemplateCurlyInString: variables of osls
exports.all = {
  TABLE_NAME: { Ref: "LedgerTable" },
  EVENT_BUS_NAME: { Ref: "EventBus" },
  EVENT_SOURCE: "${param:eventSource}",
  STAGE,
  // Of the function's package, beside its bundle.
  ACCOUNTS_FILE: PACKAGED.accounts,
  // Stack traces in logs then name our files. Costs 12 to 17 ms of a cold start.
  NODE_OPTIONS: "--enable-source-maps",
};

/** Of functions that ask the provider. */
const ASKING = { ATTEMPT_TIMEOUT_MS: String(attemptTimeoutSeconds * 1000) };

/** Of functions that know commands. */
const COMMANDS = {
  COMMAND_QUEUE_URL: { Ref: "CommandQueue" },
  OWN_SENDER: { Ref: "AWS::AccountId" },
  FINGERPRINT_KEY_PARAMETER: "${param:fingerprintKeyParameter}",
};

exports.intake = { ...COMMANDS, REACTIONS_FILE: PACKAGED.reactions };

exports.commands = { ...ASKING, ...COMMANDS, WAKE_QUEUE_URL: { Ref: "WakeQueue" } };

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
  // Without a schedule only people call it, and mean all tasks.
  AI_TASK_NAME: (await configured(osls)).aiTaskName ?? "",
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above
