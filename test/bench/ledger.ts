import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { openLedgerIn } from "../support/local-ledger.ts";

/**
 * Measures the time of a write to the ledger of a local run, on the disk of the working directory: for sequential
 * writes, and for twenty parallel writers, which share syncs.
 */
const WRITES = 1_000;
const WRITERS = 20;
const value = { text: "x".repeat(1_500) };

const directory = await mkdtemp(join("dist", "bench-ledger-"));
const { ledger, close } = await openLedgerIn(directory);

const writeMany = async (key: string, count: number): Promise<void> => {
  for (let version = 1; version <= count; version += 1) {
    await ledger.write({ key, version, dueAt: version, value });
  }
};

const time = async (name: string, work: () => Promise<unknown>): Promise<void> => {
  const startedAt = performance.now();
  await work();
  const perWrite = (performance.now() - startedAt) / WRITES;
  process.stdout.write(`ledger, ${name}: ${perWrite.toFixed(2)} ms a write\n`);
};

await time("sequential", () => writeMany("alone", WRITES));
await time(`${WRITERS} writers`, () =>
  Promise.all(
    Array.from({ length: WRITERS }, (_, index) => writeMany(`task#${index}`, WRITES / WRITERS)),
  ),
);
await close();
await rm(directory, { recursive: true });
