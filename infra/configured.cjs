const { mkdirSync, readFileSync, writeFileSync, writeSync } = require("node:fs");
const { dirname, join, resolve } = require("node:path");
const { pathToFileURL } = require("node:url");

/** Paths in the folder that osls packages. A function finds the files at the same paths in its package. */
const PACKAGED = {
  accounts: join("dist", "config", "accounts.json"),
  reactions: join("dist", "config", "reactions.json"),
};
exports.PACKAGED = PACKAGED;

/** Built from lib/intake/config-files.ts by `node infra/build.mjs functions`. */
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

/**
 * Prints the problems and ends the process. An error would not do: osls prints it again for each place that
 * needs the files.
 */
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
    end(["dist/infra/config-files.mjs: no such file; build it with npm run build"]),
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
    /** True if there are alarms and a dashboard. */
    isMonitored: monitoring === "yes",
    /** Kind of AI tasks to watch: undefined for none, empty for all. */
    aiTaskName: aiTaskName === "none" ? undefined : aiTaskName,
    eventSource,
    fingerprintKeyParameter,
    /** Names of the SSM parameters of all accounts, without duplicates. */
    keyParameters: [...new Set(keyOf.values())],
    jobKeyParameter: keyOf.get(reading.jobAccount),
  };
};

/** The result of the first call, which all files of this folder share. */
let reading;

/**
 * The stage's accounts, reactions and parameters. Ends the process with every problem if one of them is invalid.
 * Writes both config files as JSON for the functions' packages.
 */
exports.configured = async ({ resolveVariable }) => {
  // Resolved in each call: osls calls again while a parameter is not known yet.
  const values = await Promise.all(VARIABLES.map((name) => resolveVariable(name)));
  reading ??= read(values.map(String));
  return reading;
};

const LEAST_CONCURRENCY = 2;
const MOST_CONCURRENCY = 1_000;

/**
 * `maximumConcurrency` of intake's event source mapping: the number of batches that run in parallel. This limit
 * reserves no concurrency. Lambda refuses a reservation that leaves less than 100 of an AWS account's quota
 * to other functions, and the whole quota of a new AWS account may be 10.
 */
exports.intakeConcurrency = async ({ resolveVariable }) => {
  if ((await resolveVariable("param:intakeConcurrency, null")) !== null) {
    end([
      `intakeConcurrency: no longer supported; set intakeMaximumConcurrency (${LEAST_CONCURRENCY} to ${MOST_CONCURRENCY}) instead, which reserves no concurrency`,
    ]);
  }
  const text = String(await resolveVariable("param:intakeMaximumConcurrency"));
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return number >= LEAST_CONCURRENCY && number <= MOST_CONCURRENCY
    ? number
    : end([
        `intakeMaximumConcurrency: must be a whole number from ${LEAST_CONCURRENCY} to ${MOST_CONCURRENCY}, is "${text}"`,
      ]);
};

/** Folder or URL of docs/, the start of the runbook link of each alarm. */
exports.docsUrl = async ({ resolveVariable }) => {
  const docsUrl = String(await resolveVariable("param:docsUrl"));
  if (/^\S*[^\s/]$/.test(docsUrl)) return docsUrl;
  return end([
    `docsUrl: must be a path or a URL without a slash at its end, such as https://git.example.com/skyhook/docs; is "${docsUrl}"`,
  ]);
};
