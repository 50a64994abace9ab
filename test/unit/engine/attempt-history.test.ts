import * as fc from "fast-check";
import { expect, test } from "vitest";
import { archiveAttempts, readAttempts } from "../../../lib/engine/attempt-history.ts";
import { type Command, commands } from "../../../lib/engine/command.ts";
import {
  endAttempt,
  startAttempt,
  takeBackAttempt,
} from "../../../lib/engine/command-transitions.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { commandOf } from "../../support/commands.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";

const KEY = "own/c1";

/** One attempt with each of its steps: archive older attempts, record the intent, record the result. */
const attempt = async (ledger: Ledger, command: Command, now: number): Promise<Command> => {
  await archiveAttempts(ledger, KEY, command);
  const started = startAttempt(command, { by: "me", now, leaseUntil: now + 1 });
  return endAttempt(started, { endedAt: now + 1, disposition: "transient", code: `code-${now}` });
};

const afterAttempts = async (ledger: Ledger, count: number): Promise<Command> => {
  let command = commandOf();
  for (let now = 1; now <= count; now++) command = await attempt(ledger, command, now);
  return command;
};

const startsOf = async (ledger: Ledger, command: Command) =>
  (await readAttempts(ledger, KEY, command)).map(({ number, startedAt }) => [number, startedAt]);

const upTo = (count: number) => Array.from({ length: count }, (_, index) => [index + 1, index + 1]);

/** The same ledger, with the keys of all its writes. */
const watched = (ledger: Ledger) => {
  const written: string[] = [];
  const watching: Ledger = {
    ...ledger,
    write: (item) => {
      written.push(item.key);
      return ledger.write(item);
    },
  };
  return { ledger: watching, written };
};

test("every attempt is read back in order, whatever their number", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 150 }), async (count) => {
      const ledger = createMemoryLedger();

      const command = await afterAttempts(ledger, count);

      expect(await startsOf(ledger, command)).toEqual(upTo(count));
    }),
    { numRuns: 40 },
  );
});

test("forty attempts stay in the command's own item, and cost no other write", async () => {
  const { ledger, written } = watched(createMemoryLedger());

  const command = await afterAttempts(ledger, 40);

  expect(written).toEqual([]);
  expect(command.attempts).toHaveLength(40);
});

test("the oldest twenty are archived before there are more than forty", async () => {
  const { ledger, written } = watched(createMemoryLedger());

  const command = await afterAttempts(ledger, 81);

  expect(written).toEqual(["attempts#own/c1/0", "attempts#own/c1/1", "attempts#own/c1/2"]);
  expect(command.attempts).toHaveLength(21);
});

test("a crash between the write of a page and that of the command duplicates no attempt", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 130 }), async (dies) => {
      const ledger = createMemoryLedger();
      let command = commandOf();
      for (const [index, isCutOff] of dies.entries()) {
        if (isCutOff) await archiveAttempts(ledger, KEY, command);
        command = await attempt(ledger, command, index + 1);
      }

      const starts = await startsOf(ledger, command);

      expect(starts).toEqual(upTo(dies.length));
    }),
    { numRuns: 40 },
  );
});

test("an attempt that sent nothing and is taken back leaves no gap", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 130 }), async (unsent) => {
      const ledger = createMemoryLedger();
      let command = commandOf();
      for (const isUnsent of unsent) {
        const made = await attempt(ledger, command, command.attemptCount + 1);
        command = isUnsent ? takeBackAttempt(made, 1, "paused") : made;
      }

      const sent = unsent.filter((isUnsent) => !isUnsent).length;

      expect(await startsOf(ledger, command)).toEqual(upTo(sent));
    }),
    { numRuns: 40 },
  );
});

test("of a command of an earlier version, only the attempts that it dropped are missing", async () => {
  const ledger = createMemoryLedger();
  let command = commandOf({
    attemptCount: 31,
    attempts: Array.from({ length: 20 }, (_, index) => ({ startedAt: index + 12 })),
  });
  for (let now = 32; now <= 90; now++) command = await attempt(ledger, command, now);

  const starts = await startsOf(ledger, command);

  expect(starts).toEqual(upTo(90).slice(11));
});

test("archived attempts are never due, and are kept for 60 days after the command's deadline", async () => {
  const ledger = createMemoryLedger();

  await afterAttempts(ledger, 41);

  expect(await ledger.read("attempts#own/c1/0")).toMatchObject({ expiresAt: 5_191_201_000 });
  expect(await ledger.listDue(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
});

test("a page that has expired before its command is left out", async () => {
  const full = createMemoryLedger();
  const command = await afterAttempts(full, 70);
  const forgetful: Ledger = {
    ...full,
    read: async (key) => (key === "attempts#own/c1/0" ? undefined : full.read(key)),
  };

  const starts = await startsOf(forgetful, command);

  expect(starts).toEqual(upTo(70).slice(20));
});

test("forty of the longest attempts fit into an item beside the largest request", async () => {
  const ledger = createMemoryLedger();
  // Each character takes three bytes in UTF-8.
  const message = "…".repeat(201);
  const attempts = Array.from({ length: 40 }, (_, index) => ({
    startedAt: index,
    endedAt: index,
    disposition: "ambiguous",
    code: "reply-unreadable",
    status: 504,
    message,
  }));
  const body = { envs: { A: "x".repeat(256_000) } };
  const command = commandOf({ attempts, request: { params: {}, query: {}, body } });

  const written = await commands.write(ledger, KEY, undefined, command);

  expect(written?.version).toBe(1);
});
