import type { BulkPage, BulkRow } from "../../admin/bulk-cancel.ts";
import { type BoundedQuery, type BulkQuery, bulkQuerySchema } from "../../admin/list-query.ts";
import { problemsOf } from "../../contract/problem.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import { type CommandAdmin, type CommandFlags, openCommandAdmin } from "../admin/client.ts";
import { cancelText } from "../cancel-text.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import type { Columns } from "../layout.ts";
import { type FilterFlags, filtersOf, filterWords } from "../list-filters.ts";
import { columnsOf, jsonLine, printNote, printResult, tableText, visibleText } from "../render.ts";
import { sameTargetFlags } from "../verb.ts";

export interface CancelManyFlags extends CommandFlags, FilterFlags {
  readonly yes?: boolean;
}

/** Time between two checks for the replies of requests in flight. */
const CHECK_MS = 1_000;
/** Rows that a preview names. */
const FIRST_ROWS = 10;

type Effect =
  | "cancelled"
  | "unknown-outcome"
  | "under-way"
  | "following"
  | "ended"
  | "rejected"
  | "unreadable"
  | "error";

const effectOf = ({ cancel }: BulkRow): Effect => {
  if (cancel.kind !== "stopped") return cancel.kind;
  return cancel.status === "cancelled" ? "cancelled" : "unknown-outcome";
};

const FORESEEN: Readonly<Record<Effect, string>> = {
  cancelled: "ends as cancelled, without an effect",
  "unknown-outcome": "ends as unknown-outcome: an earlier request may have taken effect",
  "under-way": "a request is in flight: --yes waits for its result",
  following: "cannot be cancelled: the provider works on its tasks",
  ended: "has ended",
  rejected: "never became a command",
  unreadable: "cannot be read by this version",
  error: "cannot be read now",
};

const DONE: Readonly<Record<Effect, string>> = {
  ...FORESEEN,
  cancelled: "cancelled, without an effect",
  "unknown-outcome": "ended as unknown-outcome: an earlier request may have taken effect",
  "under-way": "not cancelled: a request is in flight",
  error: "not cancelled: the ledger failed",
};

/** Rows that a cancellation changes, or tries to. */
const isTarget = (row: BulkRow): boolean =>
  ["cancelled", "unknown-outcome", "under-way"].includes(effectOf(row));

/** The number of rows by operation, status and effect; effects in the order of `texts`. */
const countsText = (
  rows: readonly BulkRow[],
  texts: Readonly<Record<Effect, string>>,
  columns: Columns,
): string => {
  const counts = new Map<
    string,
    { readonly cells: readonly [string, string, Effect]; count: number }
  >();
  for (const row of rows) {
    const cells = [row.operation, row.status, effectOf(row)] as const;
    const entry = counts.get(cells.join(" ")) ?? { cells, count: 0 };
    entry.count += 1;
    counts.set(cells.join(" "), entry);
  }
  const order = Object.keys(texts);
  const sorted = [...counts.values()].sort(
    (a, b) => order.indexOf(a.cells[2]) - order.indexOf(b.cells[2]) || b.count - a.count,
  );
  const table = sorted.map(({ cells: [operation, status, effect], count }) => [
    String(count),
    operation,
    status,
    texts[effect],
  ]);
  return tableText(["count", "operation", "status", "cancel"], table, columns);
};

/** @throws ExitError for wrong filters, or none */
const queryOf = (flags: CancelManyFlags, clock: Clock): BulkQuery => {
  const query = bulkQuerySchema().safeParse(filtersOf(flags, clock));
  if (query.success) return query.data;
  const [problem] = problemsOf(query.error.issues);
  const text = problem?.path
    ? `--${problem.path}: ${problem.rule}`
    : "cancel: needs an id, or a filter such as --status or --account";
  throw new ExitError(EXIT.refused, text);
};

/** Pages until the end of the list. The first page sets the bound of all. */
async function* pagesOf(query: BulkQuery, read: (query: BulkQuery) => Promise<BulkPage>) {
  let next: BulkQuery | undefined = query;
  while (next) {
    const page: BulkPage = await read(next);
    yield page;
    const { until, cursor } = page;
    next = cursor === undefined ? undefined : { ...query, until, cursor };
  }
}

const preview = async (
  admin: CommandAdmin,
  query: BulkQuery,
  flags: CancelManyFlags,
  clock: Clock,
): Promise<ExitCode> => {
  const rows: BulkRow[] = [];
  let until = "";
  for await (const page of pagesOf(query, admin.previewCancel)) {
    rows.push(...page.rows);
    until = page.until;
  }
  // Nothing has happened yet, so a line has neither the answer of a cancellation nor its time.
  if (flags.json)
    for (const { cancel, ...row } of rows)
      printResult(jsonLine({ ...row, preview: effectOf({ ...row, cancel }) }));
  if (rows.length === 0) {
    printNote("no command matches; nothing is cancelled");
    return EXIT.ok;
  }
  const targets = rows.filter(isTarget);
  if (!flags.json) {
    const first = targets
      .slice(0, FIRST_ROWS)
      .map(({ at, status, sender, id }) => [at.replace(/\.\d+Z$/, "Z"), status, sender, id]);
    const rest = targets.length - first.length;
    printResult((columns) =>
      [
        countsText(rows, FORESEEN, columns),
        ...(first.length > 0
          ? ["", tableText(["accepted", "status", "sender", "id"], first, columns)]
          : []),
        ...(rest > 0 ? [`and ${rest} more`] : []),
      ].join("\n"),
    );
  }
  const words = filterWords({ ...filtersOf(flags, clock), until });
  const { sender: _, ...place } = flags;
  printNote(
    targets.length === 0
      ? "nothing can be cancelled"
      : `nothing is cancelled yet; to cancel ${targets.length}: npx skyhook cancel${words}${sameTargetFlags(place)} --yes`,
  );
  return EXIT.ok;
};

/** Waits for the results of requests in flight, and cancels those commands again. */
const retry = async (
  admin: CommandAdmin,
  rows: readonly BulkRow[],
  clock: Clock,
  waitSeconds: number,
): Promise<readonly BulkRow[]> => {
  const endsAt = clock.now() + waitSeconds * 1_000;
  let current = rows;
  while (current.some((row) => effectOf(row) === "under-way") && clock.now() < endsAt) {
    await clock.sleep(Math.min(CHECK_MS, endsAt - clock.now()));
    const next: BulkRow[] = [];
    for (const row of current) {
      const answer =
        effectOf(row) === "under-way" ? await admin.cancel(row.id, row.sender) : undefined;
      next.push(answer ? { ...row, cancel: answer } : row);
    }
    current = next;
  }
  return current;
};

const HARMLESS: ReadonlySet<Effect> = new Set(["cancelled", "ended", "rejected"]);

/** 0 when no matching command is left that has not ended as cancelled. */
const exitCodeOf = (rows: readonly BulkRow[]): ExitCode => {
  const effects = new Set(rows.map(effectOf));
  if (effects.has("error") || effects.has("unknown-outcome")) return EXIT.failed;
  if (effects.has("under-way")) return EXIT.timedOut;
  return [...effects].every((effect) => HARMLESS.has(effect)) ? EXIT.ok : EXIT.refused;
};

const outcomeText = (row: BulkRow, flags: CancelManyFlags): string => {
  const { id, sender, cancel } = row;
  switch (cancel.kind) {
    case "rejected":
    case "unreadable":
    case "error":
      return `${visibleText(id)} ${DONE[cancel.kind]}`;
    default:
      return cancelText(visibleText(id), cancel, sameTargetFlags({ ...flags, sender }));
  }
};

const apply = async (
  admin: CommandAdmin,
  query: BoundedQuery,
  flags: CancelManyFlags,
  clock: Clock,
  waitSeconds: number,
): Promise<ExitCode> => {
  const rows: BulkRow[] = [];
  const report = (row: BulkRow): void => {
    rows.push(row);
    if (flags.json) printResult(jsonLine(row));
    else if (!["ended", "rejected"].includes(effectOf(row))) printResult(outcomeText(row, flags));
  };
  const inFlight: BulkRow[] = [];
  for await (const page of pagesOf(query, (next) =>
    admin.cancelMatching({ ...next, until: query.until }),
  )) {
    for (const row of page.rows) {
      if (effectOf(row) === "under-way") inFlight.push(row);
      else report(row);
    }
  }
  for (const row of await retry(admin, inFlight, clock, waitSeconds)) report(row);
  if (rows.length === 0) printNote("no command matches; nothing is cancelled");
  else if (!flags.json) printNote(`\n${countsText(rows, DONE, columnsOf(process.stderr))}`);
  if (admin.followsLater !== undefined && rows.some((row) => row.cancel.kind === "stopped")) {
    printNote(`${admin.followsLater} and releases its lane`);
  }
  return exitCodeOf(rows);
};

/**
 * Cancels the commands that match filters, or shows what it would do.
 * @throws ExitError for wrong filters, or none
 */
export const cancelMany = async (
  flags: CancelManyFlags,
  waitSeconds: number,
  clock: Clock,
): Promise<ExitCode> => {
  const query = queryOf(flags, clock);
  const { sender: _, ...target } = flags;
  const admin = await openCommandAdmin(target, clock);
  if (!flags.yes) return preview(admin, query, flags, clock);
  // The clock of Skyhook counts, not that of this machine.
  const until = query.until ?? (await admin.previewCancel(query)).until;
  return apply(admin, { ...query, until }, flags, clock, waitSeconds);
};
