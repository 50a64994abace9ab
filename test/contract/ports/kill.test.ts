import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openLevelStore } from "../../../lib/local/durable-store.ts";
import { openFifoQueue } from "../../../lib/local/fifo-queue.ts";
import { buildProgram, type Program } from "../../support/killable-child.ts";
import { openLedgerIn } from "../../support/local-ledger.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const ROUNDS = [1, 2, 3];

const prepare = async (entry: string): Promise<{ directory: string; program: Program }> => {
  const directory = await mkdtemp(join(tmpdir(), "skyhook-kill-"));
  const program = await buildProgram(entry);
  onTestFinished(async () => {
    await program.remove();
    await rm(directory, { recursive: true });
  });
  return { directory, program };
};

const namesAfter = (word: string, lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));

test("a kill -9 loses no sent message and returns no acknowledged one", async () => {
  const { directory, program } = await prepare("test/contract/ports/queue-writer.ts");

  const lines: string[] = [];
  for (const round of ROUNDS) {
    lines.push(...(await program.runUntilKilled([directory, String(round)], 300 + round)));
  }

  const store = await openLevelStore({ directory, failing: new AbortController() });
  const queue = await openFifoQueue({
    map: store.map("commands"),
    clock: createVirtualClock(),
    random: createSeededRandom(),
    maxReceiveCount: 1000,
  });
  const kept = new Set((await queue.receive(10_000, 1000)).map(({ body }) => body));
  await store.close();
  const acknowledged = namesAfter("acknowledged", lines);
  const mayBeGone = new Set(namesAfter("acknowledging", lines));
  const sent = namesAfter("sent", lines);
  expect(sent.length).toBeGreaterThan(500);
  expect(acknowledged.length).toBeGreaterThan(100);
  expect(acknowledged.filter((name) => kept.has(name))).toEqual([]);
  expect(sent.filter((name) => !kept.has(name) && !mayBeGone.has(name))).toEqual([]);
});

test("a kill -9 loses no acknowledged write of the local ledger, and its due index is consistent", async () => {
  const { directory, program } = await prepare("test/contract/ports/ledger-writer.ts");
  const printed = new Map<string, number>();

  for (const round of ROUNDS) {
    for (const line of await program.runUntilKilled([directory], 150 + round)) {
      const [key = "", version] = line.split(" ");
      printed.set(key, Number(version));
    }

    const { ledger, close } = await openLedgerIn(directory);
    const items = await Promise.all([...printed.keys()].map((key) => ledger.read(key)));
    const listed = await ledger.listDue(Number.MAX_SAFE_INTEGER, 1000);
    await close();

    expect(items).toHaveLength(8);
    for (const item of items) {
      const writtenVersion = printed.get(item!.key)!;
      // The write after the last printed one may have completed as well.
      expect([writtenVersion, writtenVersion + 1]).toContain(item!.version);
      expect(item!.value).toEqual({ version: item!.version });
    }
    const due = items.flatMap((item) =>
      item?.dueAt === undefined ? [] : [{ key: item.key, dueAt: item.dueAt }],
    );
    expect(new Set(listed)).toEqual(new Set(due));
    expect(listed).toHaveLength(due.length);
  }
});
