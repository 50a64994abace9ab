import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { commandKey, commands } from "../../lib/engine/command.ts";
import { openLevelDatabase } from "../../lib/local/level-database.ts";
import { repairList } from "../../lib/local/list-repair.ts";
import { commandOf } from "../support/commands.ts";
import { openLedgerIn } from "../support/local-ledger.ts";

/**
 * Measures the time of a write to the ledger of a local run, on the disk of the working directory: for sequential
 * writes, and for twenty parallel writers, which share syncs. Then the check of the list at the start of a run.
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

const COMMANDS = 100_000;
const bytes = 2_000;

const timeRepair = async (name: string, work: () => Promise<unknown>): Promise<void> => {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await work();
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const { user, system } = process.cpuUsage(before);
  const cpu = ((user + system) / 1_000_000).toFixed(1);
  process.stdout.write(`ledger, ${name} of ${COMMANDS} commands: ${seconds} s, ${cpu} s of CPU\n`);
};

const listed = await mkdtemp(join("dist", "bench-list-"));
const filled = await openLedgerIn(listed);
for (let start = 0; start < COMMANDS; start += 1_000) {
  await Promise.all(
    Array.from({ length: 1_000 }, async (_, index) => {
      const acceptedAt = Date.UTC(2026, 0, 1) + start * 1_000 + index;
      const command = commandOf({
        id: `c${start + index}`,
        acceptedAt,
        fingerprint: "f".repeat(bytes),
      });
      await commands.write(filled.ledger, commandKey(command), undefined, command);
    }),
  );
}
await filled.close();
const database = await openLevelDatabase({
  directory: join(listed, "items"),
  failing: new AbortController(),
});
await timeRepair("check of the list", () => repairList(database));
for await (const key of database.keys("list"))
  void database.write([{ type: "del", map: "list", key }]);
await timeRepair("rebuild of the list", () => repairList(database));
await database.close();
await rm(listed, { recursive: true });
await rm(directory, { recursive: true });
