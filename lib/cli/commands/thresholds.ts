import { writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import pc from "picocolors";
import { STORAGE_EVENT_LIMITS } from "../../contract/storage-events.ts";
import { type AppliedChange, applyChanges } from "../../jobs/thresholds/apply.ts";
import { formatByteSize } from "../../jobs/thresholds/byte-size.ts";
import {
  readThresholdConfig,
  type ThresholdConfig,
  writeThresholdConfig,
} from "../../jobs/thresholds/config.ts";
import { changeView } from "../../jobs/thresholds/sync-events.ts";
import {
  type Change,
  listThresholds,
  type Plan,
  planChanges,
  type Target,
} from "../../jobs/thresholds/threshold.ts";
import { createFileConfigSource } from "../../local/file-watch.ts";
import { createRateLimitedClient, createRetryingClient } from "../../provider/retrying-client.ts";
import { canAsk, confirmed } from "../confirm.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { baseUrlOption, connectProvider, type Provider, type ProviderFlags } from "../provider.ts";
import { fileProblemText, jsonLine, printNote, printResult, visibleText } from "../render.ts";
import { besideNote, schemaComment, schemaPathFor } from "../schema-files.ts";
import { addExamples, type DeclareVerb, ending, type Ports } from "../verb.ts";

const NAME_COLUMNS = 24;

const limitText = ({ name }: Target, limit: string | undefined): string => {
  if (limit === undefined) return "no limit";
  if (STORAGE_EVENT_LIMITS[name] === "count") return limit;
  const size = formatByteSize(limit);
  return size === limit ? `${limit} B` : size;
};

const targetText = ({ name, storage_name, bucket_name }: Target): string =>
  [
    name.padEnd(NAME_COLUMNS),
    ...(storage_name ? [`storage ${visibleText(storage_name)}`] : []),
    ...(bucket_name ? [`bucket ${visibleText(bucket_name)}`] : []),
  ].join("  ");

/** A line of the diff. */
const changeText = (change: Change): string => {
  switch (change.action) {
    case "create": {
      const { threshold } = change;
      return pc.green(`+ ${targetText(threshold)}  ${limitText(threshold, threshold.limit)}`);
    }
    case "update": {
      const { threshold, from } = change;
      const limits = `${limitText(from, from.limit)} → ${limitText(threshold, threshold.limit)}`;
      return pc.yellow(`~ ${targetText(threshold)}  ${limits}`);
    }
    case "delete":
      return pc.red(`- ${targetText(change.from)}  ${limitText(change.from, change.from.limit)}`);
    default:
      return change satisfies never;
  }
};

const countOf = (changes: readonly Change[], action: Change["action"]): number =>
  changes.filter((change) => change.action === action).length;

/** A plan as a diff, with counts in the last line. */
const planText = ({ changes, unchangedCount }: Plan): string =>
  [
    ...changes.map(changeText),
    [
      `${countOf(changes, "create")} to create`,
      `${countOf(changes, "update")} to update`,
      `${countOf(changes, "delete")} to delete`,
      `${unchangedCount} unchanged`,
    ].join(", "),
  ].join("\n");

/** A plan as JSON; limits are decimal strings, as in events. */
const planJson = (
  { changes, unchangedCount }: Plan,
  about: { readonly actualFrom: "list" | "none"; readonly prune: boolean },
): string =>
  jsonLine({
    ...about,
    counts: {
      create: countOf(changes, "create"),
      update: countOf(changes, "update"),
      delete: countOf(changes, "delete"),
      unchanged: unchangedCount,
    },
    changes: changes.map(changeView),
  });

const outcomeText = (applied: AppliedChange): string => {
  switch (applied.outcome) {
    case "done":
      return "";
    case "failed":
      return `\n    refused: ${visibleText(applied.problem)}`;
    case "left":
      return `\n    not done${applied.problem ? `: ${visibleText(applied.problem)}` : ""}`;
    default:
      return applied satisfies never;
  }
};

/** The result of each change, with counts in the last line. */
const appliedText = (applied: readonly AppliedChange[], unchangedCount: number): string => {
  const done = applied.flatMap((each) => (each.outcome === "done" ? [each.action] : []));
  const doneCount = (action: Change["action"]) => done.filter((each) => each === action).length;
  return [
    ...applied.map((each) => changeText(each.change) + outcomeText(each)),
    [
      `${doneCount("create")} created`,
      `${doneCount("update")} updated`,
      `${doneCount("delete")} deleted`,
      `${unchangedCount} unchanged`,
      `${applied.length - done.length} not done`,
    ].join(", "),
  ].join("\n");
};

/** Options that name the provider, and whether its API can list thresholds. */
interface ThresholdFlags extends ProviderFlags {
  readonly lists: boolean;
}

const MAX_MS = 15 * 60_000;
const REQUESTS_PER_SECOND = 20;

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

/** @throws ExitError when the file cannot be read, or listing every mistake with its line */
const readFileConfig = async (file: string): Promise<ThresholdConfig> => {
  const object = await createFileConfigSource(file)
    .read()
    .catch((error: unknown) => {
      throw new ExitError(EXIT.refused, `${file}: cannot be read (${codeOf(error)})`);
    });
  if (!object) throw new ExitError(EXIT.refused, `${file}: no such file`);
  const read = readThresholdConfig(object.text);
  if (read.kind === "valid") return read.value;
  throw new ExitError(EXIT.refused, fileProblemText(file, read.problems));
};

const canCompare = (config: ThresholdConfig, { lists }: ThresholdFlags): boolean =>
  lists && config.clientId === undefined;

/** Compares with the provider's list. Without a list, the plan sends every threshold and deletes none. */
const planFor = async (
  config: ThresholdConfig,
  provider: Provider,
  flags: ThresholdFlags,
): Promise<Plan> => {
  if (canCompare(config, flags)) {
    const actual = await provider.read(listThresholds(provider.client));
    return planChanges(config.thresholds, actual, config.prune);
  }
  printNote(
    "no list to compare with: every threshold is created, or updated if it exists; none is deleted",
  );
  return planChanges(config.thresholds, [], false);
};

interface PlanFlags extends ThresholdFlags {
  readonly json?: boolean;
  /** Ends with status 2 for changes; main.ts turns the status of every error into 1. */
  readonly detailedExitcode?: boolean;
}

const plan = async (file: string, flags: PlanFlags, { clock }: Ports): Promise<ExitCode> => {
  const config = await readFileConfig(file);
  const planned = await planFor(config, connectProvider(flags, clock), flags);
  const actualFrom = canCompare(config, flags) ? "list" : "none";
  const about = { actualFrom, prune: config.prune } as const;
  printResult(flags.json ? planJson(planned, about) : planText(planned));
  return flags.detailedExitcode && planned.changes.length > 0 ? EXIT.changes : EXIT.ok;
};

const thresholdCount = (count: number): string =>
  count === 1 ? "1 threshold" : `${count} thresholds`;

/** @throws ExitError when the plan deletes thresholds and the operator has not agreed */
const agreeToDelete = async (planned: Plan, isAgreed: boolean): Promise<void> => {
  const count = planned.changes.filter(({ action }) => action === "delete").length;
  if (count === 0 || isAgreed) return;
  printNote(planText(planned));
  const question = `Delete ${thresholdCount(count)} and apply the other changes?`;
  if (canAsk() && (await confirmed(question))) return;
  const why = `nothing changed: the plan deletes ${thresholdCount(count)}; add --yes to delete without confirmation`;
  throw new ExitError(EXIT.refused, why);
};

interface ApplyFlags extends ThresholdFlags {
  /** Deletes without asking. */
  readonly yes?: boolean;
}

const apply = async (
  file: string,
  flags: ApplyFlags,
  { clock, random }: Ports,
): Promise<ExitCode> => {
  const config = await readFileConfig(file);
  const provider = connectProvider(flags, clock);
  const pace = {
    clock,
    random,
    endsAt: clock.now() + MAX_MS,
    signal: new AbortController().signal,
  };
  const planned = await planFor(config, provider, flags);
  await agreeToDelete(planned, flags.yes ?? false);
  const { changes, unchangedCount } = planned;
  const paced = createRateLimitedClient(provider.client, {
    clock,
    requestsPerSecond: REQUESTS_PER_SECOND,
  });
  const client = createRetryingClient(paced, pace);
  const applied = await applyChanges(changes, { ...pace, client, clientId: config.clientId });
  printResult(appliedText(applied, unchangedCount));
  return applied.every(({ outcome }) => outcome === "done") ? EXIT.ok : EXIT.failed;
};

/** @param file must not exist; undefined prints the text */
const pull = async (
  file: string | undefined,
  flags: ThresholdFlags,
  { clock }: Ports,
): Promise<ExitCode> => {
  const provider = connectProvider(flags, clock);
  const actual = await provider.read(listThresholds(provider.client));
  const schema = schemaPathFor("thresholds", dirname(resolve(file ?? "thresholds.yaml")));
  const text = writeThresholdConfig(actual, [
    schemaComment(schema.path),
    `Notification thresholds at ${provider.baseUrl}`,
  ]);
  if (file === undefined) printResult(text.trimEnd());
  else {
    await writeFile(file, text, { flag: "wx" }).catch((error: unknown) => {
      const code = codeOf(error);
      const why =
        code === "EEXIST" ? "exists already; choose another name" : `cannot be written (${code})`;
      throw new ExitError(EXIT.refused, `${file}: ${why}`);
    });
    printNote(`written: ${file}`);
  }
  if (schema.isBeside) printNote(besideNote("thresholds"));
  return EXIT.ok;
};

export const declareThresholds: DeclareVerb = (thresholds, ports) => {
  const addSub = (usage: string, description: string): Command =>
    thresholds
      .command(usage)
      .description(description)
      .optionsGroup("Provider, with the API key in SKYHOOK_API_KEY:")
      .addOption(baseUrlOption());
  const noLists = "for an API that cannot list storage notification events";

  thresholds.description(
    "Compares a thresholds file with the provider, applies it, or exports the provider's thresholds. It needs no running Skyhook.",
  );
  addExamples(thresholds, [
    "npx skyhook thresholds pull thresholds.yaml",
    "npx skyhook thresholds plan thresholds.yaml --detailed-exitcode",
    "npx skyhook thresholds apply thresholds.yaml --yes",
  ]);

  addSub("plan <file>", "Print the changes that apply would make")
    .option("--no-lists", noLists)
    .option("--json", "print the plan as JSON")
    .option("--detailed-exitcode", "end with 0 for no changes, 2 for changes, 1 for any error")
    .action(ending((file: string, flags: PlanFlags) => plan(file, flags, ports)));
  addSub("apply <file>", "Make the provider's thresholds equal to the file")
    .option("--no-lists", noLists)
    .option("--yes", "delete without confirmation")
    .action(ending((file: string, flags: ApplyFlags) => apply(file, flags, ports)));
  addSub("pull [file]", "Export the provider's thresholds to a file, or to stdout").action(
    ending((file: string | undefined, flags: ThresholdFlags) => pull(file, flags, ports)),
  );
};
