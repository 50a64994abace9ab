/**
 * The settings of functions/settings.ts; a test compares the two. Secrets come by their names. A
 * function gets those of all functions and its own.
 */
// biome-ignore-start lint/suspicious/noTemplateCurlyInString: variables of osls
exports.all = {
  TABLE_NAME: { Ref: "LedgerTable" },
  EVENT_BUS_NAME: { Ref: "EventBus" },
  EVENT_SOURCE: "${param:eventSource}",
  PROVIDER_BASE_URL: "${param:providerBaseUrl}",
  API_KEY_PARAMETER: "${param:apiKeyParameter}",
  TASK_PATH: "${param:taskPath}",
  POOL_PATH: "${param:poolPath}",
  PROVIDER_HAS_LISTS: "${param:providerHasLists}",
  REQUESTS_PER_SECOND: "${param:requestsPerSecond}",
  // Slow replies of the API are ambiguous sends, so rather wait; twice this fits into a run.
  ATTEMPT_TIMEOUT_MS: "10000",
  // How long after a lost reply an effect may still appear at the provider.
  SETTLE_SECONDS: "300",
  // Stack traces in logs then name our files. Costs about 20 ms of a cold start.
  NODE_OPTIONS: "--enable-source-maps",
};

exports.commands = {
  COMMAND_QUEUE_URL: { Ref: "CommandQueue" },
  WAKE_QUEUE_URL: { Ref: "WakeQueue" },
  OWN_SENDER: { Ref: "AWS::AccountId" },
  FINGERPRINT_KEY_PARAMETER: "${param:fingerprintKeyParameter}",
};

exports.thresholds = { CONFIG_BUCKET: { Ref: "ConfigBucket" }, CONFIG_KEY: "thresholds.yaml" };

exports.prices = {
  CONFIG_BUCKET: { Ref: "ConfigBucket" },
  CONFIG_KEY: "watchlist.yaml",
  // As the schedule in infra/schedules.cjs.
  PERIOD_SECONDS: "3600",
};

exports.aiTasks = { AI_TASK_NAME: "${param:aiTaskName}" };
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above
