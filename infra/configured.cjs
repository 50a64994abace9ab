const { mkdirSync, readFileSync, writeFileSync, writeSync } = require("node:fs");
const { dirname, join, resolve } = require("node:path");
const { pathToFileURL } = require("node:url");

/**
 * Paths of the converted files in a function's package. osls packages the same paths of its folder.
 */
const PACKAGED = {
  accounts: join("dist", "config", "accounts.json"),
  reactions: join("dist", "config", "reactions.json"),
};
exports.PACKAGED = PACKAGED;

/** Built from lib/intake/config-files.ts by `node infra/build.mjs functions`. */
const READER = join(__dirname, "..", "dist", "infra", "config-files.mjs");

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

/** The text of a file; undefined if it does not exist. */
const textOf = (name) => {
  try {
    return readFileSync(resolve(name), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return;
    throw error;
  }
};

/** The example of a file in this folder. @param kind `accounts` or `reactions` */
const repositoryExample = (kind) => {
  const file = `${kind}.example.yaml`;
  return { name: `infra/${file}`, text: textOf(join(__dirname, file)) };
};

const write = (file, text) => {
  mkdirSync(dirname(resolve(file)), { recursive: true });
  writeFileSync(resolve(file), text);
};

/**
 * How a caller of this folder's functions reads files, takes converted files and reports problems. These are for
 * osls; `skyhook package` passes its own.
 */
const FOR_OSLS = { refuse: end, keep: write, textOf, exampleOf: repositoryExample };

const read = async (values, { refuse, keep, textOf, exampleOf }) => {
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
    refuse(["dist/infra/config-files.mjs: no such file; build it with npm run build"]),
  );
  const fileOf = (name, kind) => ({ name, text: textOf(name), example: exampleOf(kind) });
  const reading = readConfigFiles({
    accounts: fileOf(accountsFile, "accounts"),
    reactions: fileOf(reactionsFile, "reactions"),
    jobAccount,
    aiTaskName,
    monitoring,
    eventSource,
    fingerprintKeyParameter,
    stage,
  });
  if (reading.kind === "invalid") return refuse(reading.problems);
  keep(PACKAGED.accounts, reading.packaged.accounts);
  keep(PACKAGED.reactions, reading.packaged.reactions);
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

/** The result of the first call for one packaging with the same values, which all files of this folder share. */
let latest;

/**
 * The stage's accounts, reactions and parameters. Under osls, ends the process with every problem if one of them is
 * invalid, and writes both config files as JSON for the functions' packages.
 */
exports.configured = async ({ resolveVariable, ...host }) => {
  // Resolved in each call: osls calls again while a parameter is not known yet.
  const values = (await Promise.all(VARIABLES.map((name) => resolveVariable(name)))).map(String);
  const caller = { ...FOR_OSLS, ...host };
  const key = JSON.stringify(values);
  if (latest?.key !== key || latest.keep !== caller.keep) {
    latest = { key, keep: caller.keep, reading: read(values, caller) };
  }
  return latest.reading;
};

/** A parameter with a whole number. */
const numberOf = async (name, [least, most], { resolveVariable, refuse = end }) => {
  const text = String(await resolveVariable(`param:${name}`));
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return number >= least && number <= most
    ? number
    : refuse([`${name}: must be a whole number from ${least} to ${most}, is "${text}"`]);
};

const LEAST_CONCURRENCY = 2;
const MOST_CONCURRENCY = 1_000;

/**
 * A parameter with the `maximumConcurrency` of an event source mapping: the number of batches that run in parallel.
 * This limit reserves no concurrency. Lambda refuses a reservation that leaves less than 100 of an AWS account's quota
 * to other functions, and the whole quota of a new AWS account may be 10.
 */
const concurrency = (name, host) => numberOf(name, [LEAST_CONCURRENCY, MOST_CONCURRENCY], host);

exports.intakeConcurrency = async (host) => {
  const { resolveVariable, refuse = end } = host;
  if ((await resolveVariable("param:intakeConcurrency, null")) !== null) {
    refuse([
      `intakeConcurrency: no longer supported; set intakeMaximumConcurrency (${LEAST_CONCURRENCY} to ${MOST_CONCURRENCY}) instead, which reserves no concurrency`,
    ]);
  }
  return concurrency("intakeMaximumConcurrency", host);
};

exports.runCommandsConcurrency = (host) => concurrency("runCommandsMaximumConcurrency", host);

/** A bundle needs about 80 MB to load. A new AWS account allows 3,008 MB. */
const memory = (name, host) => numberOf(name, [256, 3_008], host);
exports.runCommandsMemory = (host) => memory("runCommandsMemory", host);
exports.pollTasksMemory = (host) => memory("pollTasksMemory", host);

/** As in lib/platform/ports/ledger.ts; a test compares both. */
const MAX_SHARDS = 16;

/** Number of shards of the ledger's due index. Each has a schedule and a poller run of its own. */
const dueShards = (host) => numberOf("dueShards", [1, MAX_SHARDS], host);
exports.dueShards = dueShards;

/** A run for each shard, and one that finds the lease taken. */
exports.pollTasksConcurrency = async (host) => (await dueShards(host)) + 1;

/** Folder or URL of docs/, the start of the runbook link of each alarm. */
exports.docsUrl = async ({ resolveVariable, refuse = end }) => {
  const docsUrl = String(await resolveVariable("param:docsUrl"));
  if (/^\S*[^\s/]$/.test(docsUrl)) return docsUrl;
  return refuse([
    `docsUrl: must be a path or a URL without a slash at its end, such as https://git.example.com/skyhook/docs; is "${docsUrl}"`,
  ]);
};
