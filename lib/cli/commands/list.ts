import { Option } from "commander";
import {
  LIST_STATUSES,
  type ListPage,
  type ListQuery,
  type ListRow,
  listQuerySchema,
} from "../../admin/list.ts";
import { problemsOf } from "../../contract/problem.ts";
import { LOCAL_SENDER } from "../../local/aws-events.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import { openCommandAdmin } from "../admin/client.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { jsonLine, printNote, printResult, shellWord, tableText } from "../render.ts";
import { instantOf } from "../time-flag.ts";
import {
  addExamples,
  type DeclareVerb,
  ending,
  endpointOption,
  stageOption,
  stageRights,
} from "../verb.ts";

interface ListFlags {
  readonly account?: string;
  readonly operation?: string;
  readonly sender?: string;
  readonly resource?: string;
  readonly status?: string;
  readonly since?: string;
  readonly until?: string;
  readonly cursor?: string;
  readonly limit: string;
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
export const listText = ({ rows, cursor }: ListPage, own: string | undefined): string => {
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
  return tableText(heads, cells);
};

/** @throws ExitError that names the first wrong flag */
const queryOf = (flags: ListFlags, clock: Clock): ListQuery => {
  const { json: _json, endpoint: _endpoint, stage: _stage, since, until, ...filters } = flags;
  const query = listQuerySchema.safeParse({
    ...filters,
    ...(since !== undefined && { since: instantOf("--since", since, clock) }),
    ...(until !== undefined && { until: instantOf("--until", until, clock) }),
  });
  if (query.success) return query.data;
  const [problem] = problemsOf(query.error.issues);
  throw new ExitError(EXIT.refused, `--${problem?.path}: ${problem?.rule}`);
};

const DESCRIPTION = `Lists commands and rejected requests, the newest first.

Skyhook keeps a command for 60 days after its end, and a rejected request for 30 days. Without --since, the list goes back 67 days. A page examines about 1,000 entries, so with a rare status it may be short and yet have a next page. Commands that ended under a version of Skyhook without this list are missing; status shows them by their id.

${stageRights("dynamodb:Query on the index list of the table skyhook-STAGE-ledger and dynamodb:GetItem on the table")}`;

export const declareList: DeclareVerb = (command, { clock }) => {
  addExamples(
    command
      .description(DESCRIPTION)
      .option("--account <name>", "only commands of this account")
      .option("--operation <name>", "only this operation")
      .option("--sender <aws-account>", "only commands of this AWS account")
      .option("--resource <text>", "only commands with this text in the name of their lane")
      .addOption(new Option("--status <status>", "only this status").choices(LIST_STATUSES))
      .option("--since <time>", "accepted at or after: 24h, 7d, a day, or a time in ISO 8601")
      .option("--until <time>", "accepted at or before, in the same forms")
      .option("--limit <n>", "rows at most, up to 500", "50")
      .option("--cursor <text>", "begin where the page before ended")
      .option("--json", "print one JSON object a line")
      .addOption(endpointOption())
      .addOption(stageOption()),
    [
      "npx skyhook list --status failed --since 24h",
      "npx skyhook list --resource my-container --json",
      "npx skyhook list --stage prod --status unknown-outcome",
    ],
  ).action(
    ending(async (flags: ListFlags) => {
      const { json, endpoint, stage } = flags;
      const query = queryOf(flags, clock);
      const target = {
        ...(endpoint !== undefined && { endpoint }),
        ...(stage !== undefined && { stage }),
      };
      const page = await (await openCommandAdmin(target, clock)).list(query);
      if (json) for (const row of page.rows) printResult(jsonLine(row));
      else printResult(listText(page, stage === undefined ? LOCAL_SENDER : undefined));
      if (page.cursor !== undefined) {
        printNote(`more: the same with --cursor ${shellWord(page.cursor)}`);
      }
      return EXIT.ok;
    }),
  );
};
