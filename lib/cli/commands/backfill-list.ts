import { type BackfillProgress, backfillList } from "../../admin/backfill.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { jsonLine, printNote, printResult, shellWord } from "../render.ts";
import { stopSignal } from "../stop-signal.ts";
import { addExamples, checkedStage, type DeclareVerb, ending, stageRights } from "../verb.ts";

interface BackfillFlags {
  readonly stage: string;
  readonly cursor?: string;
  readonly unitsPerSecond: string;
  readonly json?: boolean;
}

/** Time between two lines about the progress. */
const REPORT_MS = 5_000;

const numbers = new Intl.NumberFormat("en-US");

const progressText = ({ examined, added }: BackfillProgress): string =>
  `examined ${numbers.format(examined)} ledger item${examined === 1 ? "" : "s"}, added ${numbers.format(added)} to the list`;

const continueText = (stage: string, cursor: string): string =>
  `not complete; to continue: npx skyhook backfill-list --stage ${stage} --cursor ${shellWord(cursor)}`;

/** @throws ExitError for a text that is no positive whole number */
const checkedRate = (text: string): number => {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new ExitError(EXIT.refused, "--units-per-second: must be a whole number from 1 to 999999");
};

/** @throws ExitError for a text that no backfill has printed */
const checkedCursor = (text: string | undefined): string | undefined => {
  const isCursor = text === undefined || Buffer.from(text, "base64url").includes("#");
  if (isCursor) return text;
  throw new ExitError(EXIT.refused, "--cursor: must be the cursor that a backfill printed");
};

const unreadableNote = (count: number): string =>
  `${numbers.format(count)} unreadable by this version and left out; run the backfill of the newest version`;

const runBackfill = async (flags: BackfillFlags, clock: Clock): Promise<ExitCode> => {
  const stageName = checkedStage(flags.stage);
  const unitsPerSecond = checkedRate(flags.unitsPerSecond);
  const cursor = checkedCursor(flags.cursor);
  const { openStageLedger } = await import("../admin/stage-ledger.ts");
  const { ledger, unlisted, consumed, trouble } = openStageLedger(stageName, clock);
  const deps = { ledger, unlisted, clock, consumedUnits: () => consumed().read + consumed().write };
  let progress: BackfillProgress = { examined: 0, added: 0, unreadable: 0 };
  let next = cursor;
  let reportedAt = clock.now();
  try {
    const options = { cursor, unitsPerSecond, signal: stopSignal(clock) };
    for await (progress of backfillList(deps, options)) {
      next = progress.cursor;
      if (clock.now() - reportedAt < REPORT_MS) continue;
      printNote(progressText(progress));
      reportedAt = clock.now();
    }
  } catch (error) {
    if (next !== undefined) printNote(continueText(stageName, next));
    throw trouble(error);
  }
  const { read: readUnits, write: writeUnits } = consumed();
  const units = `consumed ${numbers.format(readUnits)} read units and ${numbers.format(writeUnits)} write units`;
  const text = `${progressText(progress)}; ${units}`;
  printResult(flags.json ? jsonLine({ ...progress, readUnits, writeUnits }) : text);
  if (progress.unreadable > 0) printNote(unreadableNote(progress.unreadable));
  if (next === undefined) return EXIT.ok;
  printNote(continueText(stageName, next));
  return EXIT.failed;
};

const DESCRIPTION = `Adds commands and rejected requests to the list of a stage that an older version of Skyhook has written without it: before the list existed, or after a rollback. Reads the whole ledger once. Run it after the deployment of the newer version; functions may run meanwhile. A second run adds nothing.

The cost is half a read unit per 4 kB of the ledger, and per added item about one read unit and one write unit per kB of the item plus one for the index.

A data directory on a laptop needs no backfill: its list is completed when Skyhook opens it.

${stageRights("dynamodb:Scan, GetItem and UpdateItem on the table skyhook-STAGE-ledger")}`;

export const declareBackfillList: DeclareVerb = (command, { clock }) => {
  addExamples(
    command
      .description(DESCRIPTION)
      .requiredOption("--stage <name>", "required: stage deployed on AWS")
      .option(
        "--units-per-second <n>",
        "average of the capacity units that it may consume, read and write together",
        "1000",
      )
      .option("--cursor <text>", "continue where an interrupted backfill ended")
      .option("--json", "print JSON"),
    [
      "npx skyhook backfill-list --stage prod",
      "npx skyhook backfill-list --stage prod --units-per-second 100",
    ],
  ).action(ending((flags: BackfillFlags) => runBackfill(flags, clock)));
};
