import { readFileSync } from "node:fs";
import * as z from "zod";
import type { ConfigReading } from "../config/config-file.ts";
import { readReactions } from "../intake/config-files.ts";
import type { Reaction } from "../intake/reaction.ts";
import type { ReactionContext } from "../intake/reaction-rules.ts";
import type { JsonObject } from "../platform/ports/ledger.ts";
import type { AccountsConfig } from "../provider/accounts-config.ts";
import { readAccountsFile } from "../provider/accounts-file.ts";
import { EXIT, ExitError } from "./exit-code.ts";
import { readJsonText } from "./json-input.ts";
import { fileProblemText } from "./render.ts";

/** Options that name the files, as commander reads them. */
export interface FileFlags {
  readonly accounts?: string;
  readonly eventSource?: string;
}

export interface ReactionFiles {
  readonly reactions: readonly Reaction[];
  /** Undefined without an accounts file. */
  readonly accounts: AccountsConfig | undefined;
}

/** The default of `reactions` commands. */
const REACTIONS_FILE = "reactions.yaml";
const ACCOUNTS_FILE = "accounts.yaml";
const EVENT_SOURCE = "skyhook";

const codeSchema = z.object({ code: z.string() });

/** The text of a file; undefined if it does not exist. @throws ExitError when it cannot be read */
export const readText = (file: string): string | undefined => {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    const code = codeSchema.safeParse(error).data?.code;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new ExitError(EXIT.refused, `${file}: cannot be read (${code})`);
  }
};

/** The text of a file that must exist. @throws ExitError when it does not, or cannot be read */
export const readNamed = (file: string): string => present(file, readText(file));

const present = (file: string, text: string | undefined): string => {
  if (text !== undefined) return text;
  throw new ExitError(EXIT.refused, `${file}: no such file`);
};

/** The value of a valid config. @throws ExitError listing every mistake with its line */
export const validConfig = <T>(file: string, read: ConfigReading<T>): T => {
  if (read.kind === "valid") return read.value;
  throw new ExitError(EXIT.refused, fileProblemText(file, read.problems));
};

/** @throws ExitError when the file does not exist, or listing every mistake with its line */
export const readAccounts = (file: string): AccountsConfig =>
  validConfig(file, readAccountsFile(readNamed(file)));

/** @throws ExitError as `readAccounts` */
const readReactionsIn = (file: string, context: ReactionContext): readonly Reaction[] =>
  validConfig(file, readReactions(readNamed(file), context));

/** The accounts file. It may be missing only if no option names it. */
const accountsBeside = (given: string | undefined): AccountsConfig | undefined =>
  given === undefined && readText(ACCOUNTS_FILE) === undefined
    ? undefined
    : readAccounts(given ?? ACCOUNTS_FILE);

/**
 * Reads a reactions file and checks it against the accounts file.
 * @throws ExitError listing every mistake of the first wrong file with its line
 */
export const readReactionFiles = (file = REACTIONS_FILE, flags: FileFlags = {}): ReactionFiles => {
  const accounts = accountsBeside(flags.accounts);
  const context = { accounts, eventSource: flags.eventSource ?? EVENT_SOURCE };
  return { reactions: readReactionsIn(file, context), accounts };
};

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Reads the event in a file.
 * @param file `-` for standard input
 * @throws ExitError when the file cannot be read, or has no JSON object
 */
export const readEvent = (file: string): JsonObject => {
  const name = file === "-" ? "standard input" : file;
  const event = readJsonText(present(name, readText(file)), name);
  if (isObject(event)) return event;
  throw new ExitError(EXIT.refused, `${name}: must be a JSON object with one event`);
};
