import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { applyChanges } from "../jobs/thresholds/apply.ts";
import {
  readThresholdConfig,
  type ThresholdConfig,
  writeThresholdConfig,
} from "../jobs/thresholds/config.ts";
import {
  type ActualThreshold,
  listThresholds,
  type Plan,
  planChanges,
} from "../jobs/thresholds/threshold.ts";
import { createFileConfigSource } from "../local/file-watch.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import { createClient } from "../provider/client.ts";
import { ProviderError } from "../provider/provider-error.ts";
import { createRateLimitedClient, createRetryingClient } from "../provider/retrying-client.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { printNote, printResult } from "./output.ts";
import { type ProviderFlags, readProviderSettings } from "./provider-settings.ts";
import { readFailure } from "./read-failure.ts";
import { appliedText, fileProblemText, planJson, planText } from "./threshold-text.ts";

export interface ThresholdFlags extends ProviderFlags {
  /** Whether the provider's interface can list thresholds. */
  readonly lists: boolean;
}

/** Options of `thresholds plan`. */
export interface PlanFlags extends ThresholdFlags {
  readonly json?: boolean;
  /** Status 2 for changes; main turns the status of every error into 1. */
  readonly detailedExitcode?: boolean;
}

/** Options of `thresholds apply`. */
export interface ApplyFlags extends ThresholdFlags {
  /** Deletes without asking. */
  readonly yes?: boolean;
}

export interface ThresholdOptions<F extends ThresholdFlags = ThresholdFlags> {
  readonly flags: F;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
}

const ANSWER_MS = 30_000;
const MAX_MS = 15 * 60_000;
const REQUESTS_PER_SECOND = 20;

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

/** The provider that a person has named, asked at a pace that it can bear. */
const connect = ({ flags, environment, clock, random }: ThresholdOptions) => {
  const settings = readProviderSettings(flags, environment);
  const client = createClient({
    ...settings,
    apiKey: async () => settings.apiKey,
    fetch,
    clock,
    attemptTimeoutMs: ANSWER_MS,
  });
  const pace = {
    clock,
    random,
    endsAt: clock.now() + MAX_MS,
    signal: new AbortController().signal,
  };
  const paced = createRateLimitedClient(client, { clock, requestsPerSecond: REQUESTS_PER_SECOND });
  return {
    baseUrl: settings.baseUrl,
    pace,
    client,
    pacedClient: createRetryingClient(paced, pace),
  };
};

type Connection = ReturnType<typeof connect>;

/**
 * Asks once: a person sees at once that a key or an address is wrong.
 * @throws ExitError that says why the provider cannot be read
 */
const listActual = ({ client, baseUrl }: Connection): Promise<readonly ActualThreshold[]> =>
  listThresholds(client).catch((error: unknown) => {
    throw error instanceof ProviderError ? readFailure(error, baseUrl) : error;
  });

/** @throws ExitError naming every mistake in the file with its line */
const readFileConfig = async (file: string): Promise<ThresholdConfig> => {
  const object = await createFileConfigSource(file)
    .read()
    .catch((error: unknown) => {
      throw new ExitError(EXIT.refused, `${file}: it cannot be read (${codeOf(error)})`);
    });
  if (!object) throw new ExitError(EXIT.refused, `${file}: there is no such file`);
  const read = readThresholdConfig(object.text);
  if (read.kind === "valid") return read.value;
  throw new ExitError(EXIT.refused, fileProblemText(file, read.problems));
};

const canCompare = (config: ThresholdConfig, { lists }: ThresholdFlags): boolean =>
  lists && config.clientId === undefined;

/** Against what is there; where that cannot be seen, every threshold is sent and nothing deleted. */
const planFor = async (
  config: ThresholdConfig,
  connection: Connection,
  flags: ThresholdFlags,
): Promise<Plan> => {
  if (canCompare(config, flags)) {
    return planChanges(config.thresholds, await listActual(connection), config.prune);
  }
  printNote(
    "what is there cannot be listed: each threshold is created, or updated if it exists; nothing is deleted",
  );
  return planChanges(config.thresholds, [], false);
};

/**
 * Shows what a config would change.
 * @returns with `detailedExitcode` 0 for no change and 2 for changes
 * @throws SettingsError, ExitError
 */
export const planThresholds = async (
  file: string,
  options: ThresholdOptions<PlanFlags>,
): Promise<ExitCode> => {
  const { flags } = options;
  const config = await readFileConfig(file);
  const plan = await planFor(config, connect(options), flags);
  const actualFrom = canCompare(config, flags) ? "list" : "none";
  printResult(flags.json ? planJson(plan, { actualFrom, prune: config.prune }) : planText(plan));
  return flags.detailedExitcode && plan.changes.length > 0 ? EXIT.changes : EXIT.ok;
};

/** Asks a person at a terminal; a pipe gets no question. */
const mayDelete = async (count: number): Promise<boolean> => {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const question = `Delete ${count} and make the other changes? (yes/no) `;
  // The end of the input and Ctrl-C are a no; without this the question would never be answered.
  const ended = once(terminal, "close").then(() => "no");
  const answered = terminal.question(question).catch(() => "no");
  const answer = await Promise.race([answered, ended]);
  terminal.close();
  return answer === "yes";
};

/** @throws ExitError when the plan deletes thresholds and the operator has not agreed */
const agreeToDelete = async (plan: Plan, { yes }: ApplyFlags): Promise<void> => {
  const count = plan.changes.filter(({ action }) => action === "delete").length;
  if (count === 0 || yes) return;
  printNote(planText(plan));
  if (await mayDelete(count)) return;
  const why = `nothing is changed: ${count} to delete; --yes deletes without asking`;
  throw new ExitError(EXIT.refused, why);
};

/**
 * Changes what a config wants changed.
 * @throws SettingsError, ExitError
 */
export const applyThresholds = async (
  file: string,
  options: ThresholdOptions<ApplyFlags>,
): Promise<ExitCode> => {
  const config = await readFileConfig(file);
  const connection = connect(options);
  const plan = await planFor(config, connection, options.flags);
  await agreeToDelete(plan, options.flags);
  const { changes, unchangedCount } = plan;
  const { pacedClient: client, pace } = connection;
  const applied = await applyChanges(changes, {
    ...pace,
    client,
    clientId: config.clientId,
  });
  printResult(appliedText(applied, unchangedCount));
  return applied.every(({ outcome }) => outcome === "done") ? EXIT.ok : EXIT.failed;
};

/**
 * Writes what is there as a config.
 * @param file must not exist yet; absent: printed
 * @throws SettingsError, ExitError
 */
export const pullThresholds = async (
  file: string | undefined,
  options: ThresholdOptions,
): Promise<ExitCode> => {
  const connection = connect(options);
  const text = writeThresholdConfig(await listActual(connection), connection.baseUrl);
  if (file === undefined) {
    printResult(text.trimEnd());
    return EXIT.ok;
  }
  await writeFile(file, text, { flag: "wx" }).catch((error: unknown) => {
    const code = codeOf(error);
    const why = code === "EEXIST" ? "it exists already" : `it cannot be written (${code})`;
    throw new ExitError(EXIT.refused, `${file}: ${why}`);
  });
  printNote(`written: ${file}`);
  return EXIT.ok;
};
