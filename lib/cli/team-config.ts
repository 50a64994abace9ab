import { statSync } from "node:fs";
import { readReactions } from "../intake/config-files.ts";
import type { Reaction } from "../intake/reaction.ts";
import { JobAccountMoved } from "../local/automation.ts";
import { createFileConfigSource, createSteadySource, watchFile } from "../local/file-watch.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { ConfigSource } from "../platform/ports/config-source.ts";
import type { Log } from "../platform/ports/log.ts";
import { DEFAULT_ACCOUNT } from "../provider/accounts.ts";
import { type AccountsConfig, ownAccount } from "../provider/accounts-config.ts";
import { readAccountsFile } from "../provider/accounts-file.ts";
import { readNamed, validConfig } from "./config-files.ts";
import { ExitError } from "./exit-code.ts";
import { printNote, visibleText } from "./render.ts";

/** Files that say who may use which account, and which events become commands. */
export interface TeamFiles {
  readonly accountsFile?: string | undefined;
  readonly reactionsFile?: string | undefined;
}

/** Who may use which account, and which events become commands. */
export interface TeamConfig {
  /** Absent: our own AWS account may use the run's provider. */
  readonly accounts: AccountsConfig | undefined;
  readonly reactions: readonly Reaction[];
}

/** The texts of the files; undefined for a file that was not named. */
export interface TeamTexts {
  readonly accounts: string | undefined;
  readonly reactions: string | undefined;
}

/** A config with the files and the texts that it was read from. */
export interface TeamReading {
  readonly files: TeamFiles;
  readonly texts: TeamTexts;
  readonly config: TeamConfig;
}

/** Whether any account is at a provider other than the embedded service. */
export const isElsewhere = ({ accounts }: TeamConfig): boolean =>
  accounts?.accounts.some(({ baseUrl }) => baseUrl !== undefined) ?? false;

/** @throws ExitError naming every mistake in the first wrong file with its line */
export const parseTeamConfig = (
  { accountsFile = "", reactionsFile = "" }: TeamFiles,
  texts: TeamTexts,
  eventSource: string,
): TeamConfig => {
  const accounts =
    texts.accounts === undefined
      ? undefined
      : validConfig(accountsFile, readAccountsFile(texts.accounts));
  const context = { accounts: accounts ?? ownAccount(DEFAULT_ACCOUNT), eventSource };
  const reactions =
    texts.reactions === undefined
      ? []
      : validConfig(reactionsFile, readReactions(texts.reactions, context));
  return { accounts, reactions };
};

const textOf = (file: string | undefined): string | undefined =>
  file === undefined ? undefined : readNamed(file);

/** @throws ExitError as `parseTeamConfig`, and when there is no such file */
export const readTeamConfig = (files: TeamFiles, eventSource: string): TeamReading => {
  const texts = { accounts: textOf(files.accountsFile), reactions: textOf(files.reactionsFile) };
  return { files, texts, config: parseTeamConfig(files, texts, eventSource) };
};

/** Standard input and pipes are read once. */
const isReadable = (file: string | undefined): file is string =>
  file !== undefined && (statSync(file, { throwIfNoEntry: false })?.isFile() ?? false);

/** One source of several files: they are read together when all of them stand still. */
const sourceOf = (files: readonly string[]): ConfigSource => {
  const sources = files.map(createFileConfigSource);
  return {
    name: files.join(", "),
    async read() {
      const objects = await Promise.all(sources.map((source) => source.read()));
      const versions = objects.map((object) => object?.version);
      return { text: "", version: JSON.stringify(versions) };
    },
  };
};

export interface TeamWatchOptions {
  readonly first: TeamReading;
  readonly eventSource: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Lets a config take effect. @throws JobAccountMoved when this run cannot take it */
  readonly apply: (config: TeamConfig) => void;
}

/**
 * Re-reads the files when they change, until the signal aborts. A valid version takes effect; an
 * invalid one is reported, and the one from before stays. Every version is one report on stderr.
 */
export const watchTeamConfig = async (options: TeamWatchOptions): Promise<void> => {
  const { first, eventSource, clock, log, signal, apply } = options;
  const { accountsFile, reactionsFile } = first.files;
  const watched = [accountsFile, reactionsFile].filter(isReadable);
  if (watched.length === 0) return;
  let effective = first.texts;
  let isRefused = false;

  const reread = (file: string | undefined, text: string | undefined): string | undefined =>
    file !== undefined && watched.includes(file) ? readNamed(file) : text;
  const follow = (): string | undefined => {
    const texts = {
      accounts: reread(accountsFile, effective.accounts),
      reactions: reread(reactionsFile, effective.reactions),
    };
    const changed = [
      ...(texts.accounts === effective.accounts ? [] : [accountsFile]),
      ...(texts.reactions === effective.reactions ? [] : [reactionsFile]),
    ];
    if (changed.length === 0) {
      return isRefused ? `${watched.join(", ")}: the version in effect is back` : undefined;
    }
    apply(parseTeamConfig(first.files, texts, eventSource));
    effective = texts;
    return `${changed.join(", ")}: the new version is in effect`;
  };
  const onVersion = async (): Promise<void> => {
    try {
      const text = follow();
      isRefused = false;
      if (text !== undefined) printNote(visibleText(text));
    } catch (error) {
      const isOfFile = error instanceof ExitError || error instanceof JobAccountMoved;
      if (!isOfFile) throw error;
      isRefused = true;
      const where = error instanceof JobAccountMoved ? `${accountsFile}: ` : "";
      printNote(`${where}${error.message}\nthe version from before stays in effect`);
    }
  };
  const source = createSteadySource(sourceOf(watched), clock);
  await watchFile({ source, clock, log, signal, onVersion });
};
