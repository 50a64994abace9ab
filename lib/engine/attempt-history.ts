import pLimit from "p-limit";
import * as z from "zod";
import { recordKind } from "../ledger/record.ts";
import { LEDGER_RETENTION_MS } from "../ledger/retention.ts";
import type { Ledger } from "../platform/ports/ledger.ts";

/** How many move into a page at once. */
const PAGE_LENGTH = 20;
/** A command's item never holds more: it may hold a request of 256 kB too, and ends at 400 kB. */
const MAX_IN_ITEM = 2 * PAGE_LENGTH;
const MAX_PAGES_READ_AT_ONCE = 16;

export const attemptSchema = z.object({
  startedAt: z.int(),
  /** Of one that was lost: when that was noticed. */
  endedAt: z.int().optional(),
  /** What came back: `answered`, a disposition of the client, or `lost` when its sender died. */
  disposition: z.string().optional(),
  code: z.string().optional(),
  /** HTTP status of a refusal or failure. */
  status: z.int().optional(),
  /** One line; the provider's text, secrets left out. */
  message: z.string().optional(),
});

export type Attempt = z.output<typeof attemptSchema>;

/** What the ledger needs to know of a command to keep its attempts. */
interface Attempted {
  readonly attempts: Attempt[];
  readonly attemptCount: number;
  readonly deadline: number;
}

/** Older attempts of a command, which its own item has no room for. Written once, never changed. */
const attemptPages = recordKind({
  kind: "attempts",
  schema: z.object({
    /** Number of the first one, from 1. */
    first: z.int(),
    attempts: z.array(attemptSchema),
    expiresAt: z.int(),
  }),
  dueAt: () => undefined,
  expiresAt: ({ expiresAt }) => expiresAt,
});

/** Number of the oldest attempt that is in the command's item, from 1. */
const firstInItem = ({ attempts, attemptCount }: Attempted): number =>
  attemptCount - attempts.length + 1;

const pageNumber = (attemptNumber: number): number => Math.floor((attemptNumber - 1) / PAGE_LENGTH);

const pageKey = (commandKey: string, page: number): string => `${commandKey}/${page}`;

const isFull = ({ attempts }: Attempted): boolean => attempts.length >= MAX_IN_ITEM;

/** The attempts that stay in the item when one more begins. */
export const attemptsWithRoom = (command: Attempted): Attempt[] =>
  isFull(command) ? command.attempts.slice(PAGE_LENGTH) : command.attempts;

/**
 * Puts away the attempts that the item has no room for when one more begins; to be called before that
 * is recorded. Repeatable: only the newest attempt ever changes, so a page is the same each time.
 */
export const archiveAttempts = async (
  ledger: Ledger,
  commandKey: string,
  command: Attempted,
): Promise<void> => {
  if (!isFull(command)) return;
  const first = firstInItem(command);
  const page = {
    first,
    attempts: command.attempts.slice(0, PAGE_LENGTH),
    expiresAt: command.deadline + LEDGER_RETENTION_MS,
  };
  const key = pageKey(commandKey, pageNumber(first));
  await attemptPages.change(ledger, key, (found) => found ?? page);
};

export interface NumberedAttempt extends Attempt {
  /** From 1. */
  readonly number: number;
}

const numbered = (attempts: readonly Attempt[], first: number): readonly NumberedAttempt[] =>
  attempts.map((attempt, index) => ({ number: first + index, ...attempt }));

/** Every attempt of a command, the oldest first. A page that has expired is left out. */
export const readAttempts = async (
  ledger: Ledger,
  commandKey: string,
  command: Attempted,
): Promise<readonly NumberedAttempt[]> => {
  const inItem = firstInItem(command);
  const pageCount = inItem > 1 ? pageNumber(inItem - 1) + 1 : 0;
  const limit = pLimit(MAX_PAGES_READ_AT_ONCE);
  const pages = await Promise.all(
    Array.from({ length: pageCount }, (_, page) =>
      limit(() => attemptPages.read(ledger, pageKey(commandKey, page))),
    ),
  );
  return [
    ...pages.flatMap((page) => (page ? numbered(page.value.attempts, page.value.first) : [])),
    ...numbered(command.attempts, inItem),
  ];
};
