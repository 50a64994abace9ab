import { Option } from "commander";
import { type ListQuery, type ListRow, listQuerySchema } from "../../admin/list-query.ts";
import { problemsOf } from "../../contract/problem.ts";
import { LOCAL_SENDER } from "../../local/local-sender.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import { openCommandAdmin } from "../admin/client.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import type { Columns } from "../layout.ts";
import { type FilterFlags, filtersOf, filterWords, withFilterOptions } from "../list-filters.ts";
import { watchList } from "../list-watch.ts";
import { openLiveScreen } from "../live-screen.ts";
import {
  columnsOf,
  jsonLine,
  printLine,
  printNote,
  printResult,
  shellWord,
  tableText,
} from "../render.ts";
import { stopSignal } from "../stop-signal.ts";
import {
  addExamples,
  type DeclareVerb,
  ending,
  endpointOption,
  stageOption,
  stageRights,
} from "../verb.ts";

interface ListFlags extends FilterFlags {
  readonly cursor?: string;
  readonly limit: string;
  readonly watch?: boolean;
  readonly json?: boolean;
  readonly endpoint?: string;
  readonly stage?: string;
}

const statusText = ({ status, reason }: ListRow): string =>
  reason === undefined ? status : `${status} (${reason})`;

/**
 * Rows as a table, the newest first. Names the senders unless all commands are Skyhook's own, because the
 * other verbs need `--sender` for a command of another AWS account.
 * @param own Skyhook's AWS account; undefined: unknown
 */
export const listText = (
  { rows, cursor }: { readonly rows: readonly ListRow[]; readonly cursor?: string | undefined },
  own: string | undefined,
  columns?: Columns,
): string => {
  if (rows.length === 0) return cursor === undefined ? "no commands" : "no commands on this page";
  const areOwn = rows.every(({ sender }) => sender === own);
  const cells = rows.map((row) => [
    row.at.replace(/\.\d+Z$/, "Z"),
    statusText(row),
    row.operation,
    ...(areOwn ? [] : [row.sender]),
    row.id,
  ]);
  const heads = ["accepted", "status", "operation", ...(areOwn ? [] : ["sender"]), "id"];
  return tableText(heads, cells, columns);
};

/** @throws ExitError that names the first wrong flag */
const queryOf = (flags: ListFlags, clock: Clock): ListQuery => {
  const { cursor, limit } = flags;
  const query = listQuerySchema().safeParse({
    ...filtersOf(flags, clock),
    limit,
    ...(cursor !== undefined && { cursor }),
  });
  if (query.success) return query.data;
  const [problem] = problemsOf(query.error.issues);
  throw new ExitError(EXIT.refused, `--${problem?.path}: ${problem?.rule}`);
};

/** Skyhook's own AWS account; unknown for a stage. */
const ownSender = ({ stage }: ListFlags): string | undefined =>
  stage === undefined ? LOCAL_SENDER : undefined;

const openList = async ({ endpoint, stage }: ListFlags, clock: Clock) => {
  const target = {
    ...(endpoint !== undefined && { endpoint }),
    ...(stage !== undefined && { stage }),
  };
  const admin = await openCommandAdmin(target, clock);
  return (query: ListQuery) => admin.list(query);
};

/** A stage costs read units, so that it is checked less often. */
const everySeconds = ({ stage }: ListFlags): number => (stage === undefined ? 2 : 5);

const watchOf = (flags: ListFlags, clock: Clock, signal: AbortSignal) => {
  const query = queryOf(flags, clock);
  const everyMs = everySeconds(flags) * 1_000;
  return { open: () => openList(flags, clock), query, clock, everyMs, signal };
};

/** Prints each row that is new or has changed as a line, the oldest first. */
const printChanges = async (flags: ListFlags, clock: Clock, signal: AbortSignal): Promise<void> => {
  const lineOf = (row: ListRow): string =>
    flags.json
      ? jsonLine(row)
      : listText({ rows: [row] }, ownSender(flags))
          .split("\n")
          .slice(1)
          .join("");
  let isLost = false;
  for await (const check of watchList(watchOf(flags, clock, signal))) {
    if (check.kind === "lost") {
      if (!isLost)
        printNote(`connection lost, tries again every ${everySeconds(flags)} s: ${check.why}`);
      isLost = true;
      continue;
    }
    if (isLost) printNote("connected again");
    isLost = false;
    for (const row of check.changed) await printLine(lineOf(row));
  }
};

/** Lines of the screen besides those of the rows: a title, a note, the head of the table. */
const FRAME_LINES = 4;

/** Shows the newest rows until Ctrl-C, and leaves them in the terminal. */
const showLive = async (flags: ListFlags, clock: Clock, signal: AbortSignal): Promise<void> => {
  const fitting = Math.max(1, process.stdout.rows - FRAME_LINES);
  const limit = String(Math.min(fitting, Number(flags.limit)));
  const checks = watchOf({ ...flags, limit }, clock, signal);
  const screen = openLiveScreen(process.stdout);
  signal.addEventListener("abort", screen.leave, { once: true });
  const title = `skyhook list, every ${everySeconds(flags)} s; Ctrl-C ends`;
  let shown: readonly ListRow[] | undefined;
  try {
    for await (const check of watchList(checks)) {
      if (check.kind === "rows") shown = check.rows;
      const note = check.kind === "lost" ? `connection lost, tries again: ${check.why}` : "";
      const text = listText({ rows: shown ?? [] }, ownSender(flags), columnsOf(process.stdout));
      screen.draw([title, note, ...text.split("\n")]);
    }
  } finally {
    screen.leave();
  }
  if (!shown) return;
  const rows = shown;
  printResult((columns) => listText({ rows }, ownSender(flags), columns));
};

const watch = async (flags: ListFlags, clock: Clock): Promise<ExitCode> => {
  for (const name of ["cursor", "until"] as const) {
    if (flags[name] === undefined) continue;
    throw new ExitError(EXIT.refused, `--${name}: not with --watch, which shows the newest rows`);
  }
  const signal = stopSignal(clock);
  const isLive = process.stdout.isTTY && !flags.json;
  await (isLive ? showLive : printChanges)(flags, clock, signal);
  return EXIT.ok;
};

const DESCRIPTION = `Lists commands and rejected requests, the newest first.

Skyhook keeps a command for 60 days after its end, and a rejected request for 30 days. Without --since, the list goes back 67 days. A page examines about 1,000 entries, so with a rare status it may be short and yet have a next page. On a stage, commands that a version of Skyhook without this list has written are missing until \`skyhook backfill-list\` adds them; status shows them by their id.

--watch shows the newest rows at a terminal until Ctrl-C. Elsewhere, and with --json, it prints each row once as a line, and again when it changes. It follows changes of the newest rows only, as many as --limit says. It checks every 2 s, with --stage every 5 s; a check reads each shown row, which costs read units.

${stageRights("dynamodb:Query on the index list of the table skyhook-STAGE-ledger and dynamodb:GetItem on the table")}`;

export const declareList: DeclareVerb = (command, { clock }) => {
  addExamples(
    withFilterOptions(command.description(DESCRIPTION))
      .addOption(new Option("--limit <n>", "rows at most, up to 500").default("50", "50"))
      .option("--cursor <text>", "begin where the page before ended")
      .option("--watch", "show the list until Ctrl-C, and each change")
      .option("--json", "print one JSON object a line")
      .addOption(endpointOption())
      .addOption(stageOption()),
    [
      "npx skyhook list --status failed --since 24h",
      "npx skyhook list --resource my-container --json",
      "npx skyhook list --watch",
      "npx skyhook list --stage prod --status unknown-outcome",
    ],
  ).action(
    ending(async (flags: ListFlags) => {
      if (flags.watch) return watch(flags, clock);
      const page = await (await openList(flags, clock))(queryOf(flags, clock));
      if (flags.json) for (const row of page.rows) printResult(jsonLine(row));
      else printResult((columns) => listText(page, ownSender(flags), columns));
      const filters = filterWords(flags);
      if (page.rows.length === 0 && page.cursor === undefined && filters !== "") {
        printNote(`no command matches${filters}`);
      }
      if (page.cursor !== undefined) {
        printNote(`more: the same with --cursor ${shellWord(page.cursor)}`);
      }
      return EXIT.ok;
    }),
  );
};
