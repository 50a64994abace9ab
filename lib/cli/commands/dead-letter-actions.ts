import type { Command } from "commander";
import { Option } from "commander";
import type { DeadLetterOutcome, DeadLetterPreview } from "../../admin/answers.ts";
import {
  type DeadLetterFilter,
  deadLetterFilterSchema,
  type Selection,
} from "../../admin/dead-letter-selection.ts";
import { problemsOf } from "../../contract/problem.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import {
  type DeadLetterAdmin,
  type DeadLetterFlags,
  openDeadLetterAdmin,
  withAdminOptions,
} from "../admin/client.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { jsonLine, printNote, printResult, shellWord, visibleText } from "../render.ts";
import { instantOf } from "../time-flag.ts";
import { addExamples, ending, type Ports, sameTargetFlags, stageRights } from "../verb.ts";

const OUTCOMES: Readonly<Record<DeadLetterOutcome["outcome"], string>> = {
  "sent-back": "sent back",
  "in-both": "sent back, but still a dead letter; delete it",
  deleted: "deleted",
  kept: "kept",
  "not-found": "not found",
  failed: "failed",
  "would-send-back": "would be sent back",
  "would-delete": "would be deleted",
};

const outcomeText = ({ messageId, outcome, what, why }: DeadLetterOutcome): string =>
  visibleText(
    [
      `${messageId} ${OUTCOMES[outcome]}`,
      what === undefined ? "" : `: ${what}`,
      why === undefined ? "" : ` (${why})`,
    ].join(""),
  );

/** A line for each dead letter. */
const outcomesText = (outcomes: readonly DeadLetterOutcome[]): string =>
  outcomes.length === 0 ? "no dead letters" : outcomes.map(outcomeText).join("\n");

interface Output {
  readonly json?: boolean;
}

const FAILED: ReadonlySet<DeadLetterOutcome["outcome"]> = new Set(["failed", "in-both"]);
const DONE: ReadonlySet<DeadLetterOutcome["outcome"]> = new Set(["deleted", "sent-back"]);

/** @param isEachNamed whether the user named each id, so that a kept dead letter is a refusal */
const exitCodeOf = (outcomes: readonly DeadLetterOutcome[], isEachNamed: boolean): ExitCode => {
  if (outcomes.some(({ outcome }) => FAILED.has(outcome))) return EXIT.failed;
  const isDone = outcomes.every(({ outcome }) => DONE.has(outcome));
  return isDone || !isEachNamed ? EXIT.ok : EXIT.refused;
};

const show = (
  outcomes: readonly DeadLetterOutcome[],
  { json }: Output,
  isEachNamed: boolean,
): ExitCode => {
  printResult(json ? jsonLine(outcomes) : outcomesText(outcomes));
  return exitCodeOf(outcomes, isEachNamed);
};

export const redrive = async (
  admin: DeadLetterAdmin,
  selection: Selection,
  output: Output,
): Promise<ExitCode> => show(await admin.redrive(selection), output, selection.kind === "ids");

export const withDeadLetterOptions = (command: Command): Command =>
  withAdminOptions(command).option(
    "--accounts <file>",
    "with --stage: accounts file of the stage, to check rights (default: not checked)",
  );

export const DEAD_LETTER_RIGHTS = stageRights(
  "sqs:GetQueueUrl on five queues (commands.fifo, requests and the three dead-letter queues); sqs:GetQueueAttributes, ReceiveMessage and ChangeMessageVisibility on the dead-letter queues; dynamodb:GetItem on the table skyhook-STAGE-ledger; to change anything also sqs:DeleteMessage on the dead-letter queues and sqs:SendMessage on the other two. Without ssm:GetParameter on /skyhook/STAGE/fingerprint-key it does not check seals or compare payloads",
);

const FILTERS = ["queue", "reason", "since", "until"] as const;

interface BulkFlags extends DeadLetterFlags {
  readonly queue?: string;
  readonly reason?: string;
  readonly since?: string;
  readonly until?: string;
  readonly yes?: boolean;
}

const withFilters = (command: Command, yes: string): Command =>
  withDeadLetterOptions(command)
    .argument("[id...]", "ids that `skyhook dead-letters` prints")
    .addOption(
      new Option("--queue <name>", "only messages of this queue").choices(["commands", "requests"]),
    )
    .option("--reason <word>", "only this diagnosis, as `skyhook dead-letters` prints it")
    .option("--since <time>", "arrived at or after: 24h, 7d, a day, or a time in ISO 8601")
    .option("--until <time>", "arrived at or before, in the same forms")
    .option("--yes", yes);

/** The given filters; undefined: none. @throws ExitError for wrong ones */
const filterOf = (flags: BulkFlags, clock: Clock): DeadLetterFilter | undefined => {
  const given = FILTERS.flatMap((name) => {
    const text = flags[name];
    if (text === undefined) return [];
    const isTime = name === "since" || name === "until";
    return [[name, isTime ? instantOf(`--${name}`, text, clock) : text] as const];
  });
  if (given.length === 0) return undefined;
  const filter = deadLetterFilterSchema.safeParse(Object.fromEntries(given));
  if (filter.success) return filter.data;
  const [problem] = problemsOf(filter.error.issues);
  throw new ExitError(EXIT.refused, problem?.rule ?? "wrong filters");
};

const filterWords = (filter: DeadLetterFilter): string =>
  FILTERS.flatMap((name) => {
    const text = filter[name];
    return text === undefined ? [] : [` --${name} ${shellWord(text)}`];
  }).join("");

/** Shows what an action would do, and the line that does it. */
const showPreview = (
  { outcomes, until }: DeadLetterPreview,
  action: { readonly verb: string; readonly filter: DeadLetterFilter; readonly words: string },
  flags: BulkFlags,
): ExitCode => {
  printResult(flags.json ? jsonLine(outcomes) : outcomesText(outcomes));
  const count = outcomes.filter(({ outcome }) => WOULD.has(outcome)).length;
  if (count === 0) {
    printNote("nothing to do");
    return EXIT.ok;
  }
  const { verb, filter, words } = action;
  const { accounts } = flags;
  const place = `${sameTargetFlags(flags)}${accounts === undefined ? "" : ` --accounts ${shellWord(accounts)}`}`;
  printNote(
    `nothing has changed yet; to ${verb} ${count}: npx skyhook dead-letters ${verb}${filterWords({ ...filter, until })}${words}${place} --yes`,
  );
  return EXIT.ok;
};

const WOULD: ReadonlySet<DeadLetterOutcome["outcome"]> = new Set([
  "would-delete",
  "would-send-back",
]);

const chooseOne = (verb: string, choices: readonly boolean[]): void => {
  if (choices.filter(Boolean).length === 1) return;
  const all = verb === "redrive" ? ", --all" : "";
  throw new ExitError(
    EXIT.refused,
    `${verb}: needs either ids${all} or filters such as --queue; \`npx skyhook dead-letters\` prints the ids`,
  );
};

const REDRIVE_DESCRIPTION = `Sends dead letters back to their queues. --all sends those that \`skyhook dead-letters\` recommends to redrive, and prints why it keeps the others. With filters it does the same for those that match: without --yes it only shows what it would do. Messages that arrive after that are left alone.

A redrive is idempotent: a command has a sender and an id, and Skyhook runs it once. A message is sent first and then deleted, so an interrupted redrive can leave it in both queues. Only a request without metadata.time that is older than 30 days is never sent back, because the ledger may have forgotten its command.

${DEAD_LETTER_RIGHTS}`;

type RedriveFlags = BulkFlags & { readonly all?: boolean };

/** Adds the arguments and the action of a redrive to a verb. */
export const declareRedriveOn = (command: Command, ports: Ports): Command =>
  addExamples(
    withFilters(command.description(REDRIVE_DESCRIPTION), "redrive what the filters select"),
    [
      "npx skyhook redrive --all --stage prod --accounts accounts.yaml",
      "npx skyhook redrive ID",
      "npx skyhook dead-letters redrive --queue requests --since 24h",
    ],
  )
    .option("--all", "redrive every recommended dead letter")
    .action(
      ending(async (ids: string[], flags: RedriveFlags) => {
        const filter = filterOf(flags, ports.clock);
        chooseOne("redrive", [ids.length > 0, flags.all ?? false, filter !== undefined]);
        const admin = await openDeadLetterAdmin(flags, ports);
        if (!filter)
          return redrive(admin, flags.all ? { kind: "all" } : { kind: "ids", ids }, flags);
        if (flags.yes) return redrive(admin, { kind: "matching", filter }, flags);
        const preview = await admin.previewRedrive(filter);
        return showPreview(preview, { verb: "redrive", filter, words: "" }, flags);
      }),
    );

const DELETE_DESCRIPTION = `Deletes dead letters whose command is in the ledger, or that can have no effect. A request that never became a command is kept, unless --force is given. With filters it needs --yes, else it only shows what it would do.

${DEAD_LETTER_RIGHTS}`;

type DeleteFlags = BulkFlags & { readonly force?: boolean };

/** Adds the arguments and the action of a deletion to a verb. */
export const declareDeleteOn = (command: Command, ports: Ports): Command =>
  withFilters(command.description(DELETE_DESCRIPTION), "delete what the filters select")
    .option("--force", "also delete requests that never became a command; they are lost")
    .action(
      ending(async (ids: string[], flags: DeleteFlags) => {
        const filter = filterOf(flags, ports.clock);
        chooseOne("delete", [ids.length > 0, filter !== undefined]);
        const admin = await openDeadLetterAdmin(flags, ports);
        const force = flags.force ?? false;
        if (filter && !flags.yes) {
          const words = force ? " --force" : "";
          const preview = await admin.previewRemove(filter, force);
          return showPreview(preview, { verb: "delete", filter, words }, flags);
        }
        const selection = filter
          ? ({ kind: "matching", filter } as const)
          : ({ kind: "ids", ids } as const);
        return show(await admin.remove(selection, force), flags, selection.kind === "ids");
      }),
    );
