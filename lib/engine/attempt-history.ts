import pLimit from "p-limit";
import * as z from "zod";
import { recordKind } from "../ledger/record.ts";
import { LEDGER_RETENTION_MS } from "../ledger/retention.ts";
import type { Ledger } from "../platform/ports/ledger.ts";

/** Number of attempts that move into a page at once. */
const PAGE_LENGTH = 20;
/**
 * Maximum number of attempts in a command's item. It may also hold a request of 256 kB, and DynamoDB limits it to
 * 400 kB.
 */
const MAX_IN_ITEM = 2 * PAGE_LENGTH;
const MAX_PAGES_READ_AT_ONCE = 16;

export const attemptSchema = z.object({
  startedAt: z.int(),
  /** For a lost attempt: when the loss was noticed. */
  endedAt: z.int().optional(),
  /**
   * Result: `answered`, a disposition of the client, or `lost` if the function that sent it died.
   */
  disposition: z.string().optional(),
  code: z.string().optional(),
  /** HTTP status of a refusal or failure. */
  status: z.int().optional(),
  /** The provider's text on one line, without secrets. */
  message: z.string().optional(),
});

export type Attempt = z.output<typeof attemptSchema>;

/** The fields of a command that its attempt history needs. */
interface Attempted {
  readonly attempts: Attempt[];
  readonly attemptCount: number;
  readonly deadline: number;
}

/** Older attempts of a command, which its own item has no room for. Written once, never changed. */
const attemptPages = recordKind({
  kind: "attempts",
  schema: z.object({
    /** Number of the page's first attempt, from 1. */
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
 * Moves the oldest attempts of a full item into a page. Called before the next attempt is recorded.
 * Repeatable: only the newest attempt ever changes, so the page is the same each time.
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
  /** Number of the attempt, from 1. */
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
