import { openLedgerIn } from "../../support/local-ledger.ts";

// To be killed: eight writers change their items for ever, and print each version that is written.
const [, , directory = ""] = process.argv;
const { ledger } = await openLedgerIn(directory);

const writeForEver = async (key: string): Promise<never> => {
  for (let version = ((await ledger.read(key))?.version ?? 0) + 1; ; version += 1) {
    // Every fourth version has nothing outstanding, so index entries come, move and go.
    const due = version % 4 === 0 ? {} : { dueAt: version * 1000 };
    await ledger.write({ key, version, value: { version }, ...due });
    // Waits until the line has left this process: what waits in its memory is lost with it.
    await new Promise((resolve) => process.stdout.write(`${key} ${version}\n`, resolve));
  }
};

await Promise.all(Array.from({ length: 8 }, (_, index) => writeForEver(`task#${index}`)));
