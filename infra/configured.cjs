const { mkdirSync, readFileSync, writeFileSync, writeSync } = require("node:fs");
const { dirname, join, resolve } = require("node:path");
const { pathToFileURL } = require("node:url");

/** Below the folder that osls packages; a function finds them at the same place in its package. */
const PACKAGED = {
  accounts: join("dist", "config", "accounts.json"),
  reactions: join("dist", "config", "reactions.json"),
};
exports.PACKAGED = PACKAGED;

/** What `node infra/build.mjs functions` makes of lib/intake/config-files.ts. */
const READER = resolve("dist", "infra", "config-files.mjs");

const VARIABLES = [
  "param:accountsFile",
  "param:reactionsFile",
  "param:jobAccount",
  "param:aiTaskName",
  "param:monitoring",
  "param:eventSource",
  "param:fingerprintKeyParameter",
  "sls:stage",
];

/** Without osls's own lines, which would repeat all of it for each place that needs the files. */
const end = (problems) => {
  writeSync(2, `${problems.join("\n")}\n`);
  process.exit(1);
};
exports.end = end;

const textOf = (name) => {
  try {
    return readFileSync(resolve(name), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return;
    throw error;
  }
};

const foundFile = (name) => ({ name, text: textOf(name) });

const configFile = (name, example) => ({ ...foundFile(name), example: foundFile(example) });

const write = (file, text) => {
  mkdirSync(dirname(resolve(file)), { recursive: true });
  writeFileSync(resolve(file), text);
};

const read = async (values) => {
  const [
    accountsFile,
    reactionsFile,
    jobAccount,
    aiTaskName,
    monitoring,
    eventSource,
    fingerprintKeyParameter,
    stage,
  ] = values;
  const { readConfigFiles } = await import(pathToFileURL(READER).href).catch(() =>
    end(["the functions are not built; run: npm run package"]),
  );
  const reading = readConfigFiles({
    accounts: configFile(accountsFile, "infra/accounts.example.yaml"),
    reactions: configFile(reactionsFile, "infra/reactions.example.yaml"),
    jobAccount,
    aiTaskName,
    monitoring,
    eventSource,
    fingerprintKeyParameter,
    stage,
  });
  if (reading.kind === "invalid") return end(reading.problems);
  write(PACKAGED.accounts, reading.packaged.accounts);
  write(PACKAGED.reactions, reading.packaged.reactions);
  const keyOf = new Map(
    reading.accounts.accounts.map((each) => [each.name, each.apiKey.parameter]),
  );
  return {
    accounts: reading.accounts,
    rules: reading.rules,
    jobAccount: reading.jobAccount,
    /** Whether there are alarms and a dashboard. */
    isMonitored: monitoring === "yes",
    /** Undefined: AI tasks are not watched; empty: all are. */
    aiTaskName: aiTaskName === "none" ? undefined : aiTaskName,
    eventSource,
    fingerprintKeyParameter,
    /** Names of SSM parameters, once each. */
    keyParameters: [...new Set(keyOf.values())],
    jobKeyParameter: keyOf.get(reading.jobAccount),
  };
};

/** One reading for all files of this folder. */
let reading;

/**
 * What the two config files of the stage say. Ends the program when they say something wrong. Leaves
 * them as JSON for the functions' packages.
 */
exports.configured = async ({ resolveVariable }) => {
  // Not remembered: osls asks again when a parameter that it needs is not yet known.
  const values = await Promise.all(VARIABLES.map((name) => resolveVariable(name)));
  reading ??= read(values.map(String));
  return reading;
};

const LEAST_CONCURRENCY = 2;
const MOST_CONCURRENCY = 1_000;

/**
 * `maximumConcurrency` of intake's mapping: how many batches of events are accepted side by side. A
 * limit that reserves nothing, because Lambda refuses a reservation that leaves less than 100 of an
 * AWS account's quota to its other functions, and the whole quota of a new one may be 10.
 */
exports.intakeConcurrency = async ({ resolveVariable }) => {
  if ((await resolveVariable("param:intakeConcurrency, null")) !== null) {
    end([
      `intakeConcurrency: replaced by intakeMaximumConcurrency (${LEAST_CONCURRENCY} to ${MOST_CONCURRENCY}), which reserves nothing`,
    ]);
  }
  const text = String(await resolveVariable("param:intakeMaximumConcurrency"));
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return number >= LEAST_CONCURRENCY && number <= MOST_CONCURRENCY
    ? number
    : end([
        `intakeMaximumConcurrency: a whole number from ${LEAST_CONCURRENCY} to ${MOST_CONCURRENCY}`,
      ]);
};
