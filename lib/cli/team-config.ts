import { statSync } from "node:fs";
import { readReactions } from "../intake/config-files.ts";
import type { Reaction } from "../intake/reaction.ts";
import { JobAccountMoved } from "../local/automation.ts";
import { createFileConfigSource, createSteadySource, watchFile } from "../local/file-watch.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { ConfigSource } from "../platform/ports/config-source.ts";
import type { Log } from "../platform/ports/log.ts";
import { type AccountsConfig, ownAccount } from "../provider/accounts-config.ts";
import { readAccountsFile } from "../provider/accounts-file.ts";
import { DEFAULT_ACCOUNT } from "../provider/default-account.ts";
import { readNamed, validConfig } from "./config-files.ts";
import { ExitError } from "./exit-code.ts";
import { printNote, visibleText } from "./render.ts";

/** The accounts file and the reactions file. */
export interface TeamFiles {
  readonly accountsFile?: string | undefined;
  readonly reactionsFile?: string | undefined;
}

/** Rights and reactions. */
export interface TeamConfig {
  /** Undefined: only Skyhook's AWS account may use the run's provider. */
  readonly accounts: AccountsConfig | undefined;
  readonly reactions: readonly Reaction[];
}

/** The texts of the files; undefined for a file that no option names. */
export interface TeamTexts {
  readonly accounts: string | undefined;
  readonly reactions: string | undefined;
}

/** A config with its files and their texts. */
export interface TeamReading {
  readonly files: TeamFiles;
  readonly texts: TeamTexts;
  readonly config: TeamConfig;
}

/** Whether any account is at a provider other than the embedded service. */
export const isElsewhere = ({ accounts }: TeamConfig): boolean =>
  accounts?.accounts.some(({ baseUrl }) => baseUrl !== undefined) ?? false;

/** @throws ExitError listing every mistake of the first wrong file with its line */
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

/** @throws ExitError like `parseTeamConfig`, and when a file does not exist */
export const readTeamConfig = (files: TeamFiles, eventSource: string): TeamReading => {
  const texts = { accounts: textOf(files.accountsFile), reactions: textOf(files.reactionsFile) };
  return { files, texts, config: parseTeamConfig(files, texts, eventSource) };
};

/** Whether a file can be read again; standard input and pipes cannot. */
const isReadable = (file: string | undefined): file is string =>
  file !== undefined && (statSync(file, { throwIfNoEntry: false })?.isFile() ?? false);

/** One source for several files, so that they are read together when none of them changes. */
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
  /** Puts a config into effect. @throws JobAccountMoved when it moves the account of the scheduled jobs */
  readonly apply: (config: TeamConfig) => void;
}

/**
 * Re-reads the files when they change, until the signal aborts. A valid version takes effect; an invalid one does
 * not, and the previous version stays. Reports each version on stderr.
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
      return isRefused ? `${watched.join(", ")}: back to the version in effect` : undefined;
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
      printNote(`${where}${error.message}\nthe previous version stays in effect`);
    }
  };
  const source = createSteadySource(sourceOf(watched), clock);
  await watchFile({ source, clock, log, signal, onVersion });
};
