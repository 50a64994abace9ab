import { openLedgerIn } from "../../support/local-ledger.ts";

// Runs until it is killed: eight writers change their items and print each written version.
const [, , directory = ""] = process.argv;
const { ledger } = await openLedgerIn(directory);

const writeForEver = async (key: string): Promise<never> => {
  for (let version = ((await ledger.read(key))?.version ?? 0) + 1; ; version += 1) {
    // Every fourth version has no due time, so index entries appear, move and disappear.
    const due = version % 4 === 0 ? {} : { dueAt: version * 1000 };
    await ledger.write({ key, version, value: { version }, ...due });
    // Waits until the line has left the process, because a kill loses buffered output.
    await new Promise((resolve) => process.stdout.write(`${key} ${version}\n`, resolve));
  }
};

await Promise.all(Array.from({ length: 8 }, (_, index) => writeForEver(`task#${index}`)));
