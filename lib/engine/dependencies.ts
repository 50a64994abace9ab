import type { Problem } from "../contract/problem.ts";
import type { Stored } from "../ledger/record.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { type Command, commandKey, commands, isBeforeItsLane, isEnded } from "./command.ts";
import { cancel, expire } from "./command-events.ts";
import { loseLease, waitForOthers } from "./command-transitions.ts";
import type { CommandDeps } from "./deps.ts";
import { finishCommand, writeCommand } from "./finish.ts";
import type { CommandRequest } from "./request.ts";

/** Maximum number of commands on which one may depend, directly or through others. */
const MAX_DEPENDENCIES = 100;

const FIRST_CHECK_MS = 2_000;
const LAST_CHECK_MS = 30_000;
/** Checking after each further fifth of the time waited starts a command late by a fifth at most. */
const PART_OF_WAIT = 0.2;

/** When to check the commands of `after` again, epoch ms. */
const nextCheckOfOthersAt = ({ acceptedAt }: Command, now: number): number =>
  now +
  Math.round(Math.min(LAST_CHECK_MS, Math.max(FIRST_CHECK_MS, (now - acceptedAt) * PART_OF_WAIT)));

const read = async (ledger: Ledger, sender: string, id: string): Promise<Command | undefined> =>
  (await commands.read(ledger, commandKey({ sender, id })))?.value;

/**
 * Finds a cycle of commands that wait for each other, or too many commands on which one depends. Commands
 * that have entered their lane depend on no others: those have succeeded.
 * @returns the problem, or undefined
 */
export const findLoop = async (
  ledger: Ledger,
  { sender, commandId, after }: Pick<CommandRequest, "sender" | "commandId" | "after">,
): Promise<string | undefined> => {
  const seen = new Set<string>();
  let next = [...after];
  while (next.length > 0) {
    if (next.includes(commandId)) return "forms a cycle: these commands already wait for this one";
    const found = await Promise.all(next.map((id) => read(ledger, sender, id)));
    for (const id of next) seen.add(id);
    if (seen.size > MAX_DEPENDENCIES)
      return `depends on more than ${MAX_DEPENDENCIES} commands, directly or through others`;
    const named = found.flatMap((command) =>
      command && isBeforeItsLane(command) ? (command.after ?? []) : [],
    );
    next = [...new Set(named)].filter((id) => !seen.has(id));
  }
  return undefined;
};

/** Whether a command may continue, has to wait, or can never run because of the commands in `after`. */
type AfterStatus =
  | { readonly kind: "clear" }
  | { readonly kind: "wait"; readonly unknown: readonly string[] }
  | { readonly kind: "blocked"; readonly problems: readonly Problem[] };

/** Why the end of one command prevents the start of another; undefined if it does not. */
const blockingRuleOf = (other: Command, waiting: Command): string | undefined => {
  if (!isEnded(other)) return undefined;
  const { status, reason, outcome } = other.state;
  if (status !== "succeeded") return `command ${other.id} did not succeed: ${status} (${reason})`;
  return outcome === "dry-run" && !waiting.dryRun ? `command ${other.id} was a dry run` : undefined;
};

/** Reads the commands that a command waits for, if any. */
const afterStatusOf = async (ledger: Ledger, command: Command): Promise<AfterStatus> => {
  const { sender, after = [] } = command;
  if (after.length === 0 || !isBeforeItsLane(command)) return { kind: "clear" };
  const others = await Promise.all(after.map((id) => read(ledger, sender, id)));
  const problems = others.flatMap((other, index) => {
    const rule = other && blockingRuleOf(other, command);
    return rule === undefined ? [] : [{ path: `after.${index}`, rule }];
  });
  if (problems.length > 0) return { kind: "blocked", problems };
  if (others.every((other) => other && isEnded(other))) return { kind: "clear" };
  // Two commands that name each other may be accepted at the same time. This check sees the later one.
  const isNew = command.state.status === "accepted";
  const loop = isNew ? await findLoop(ledger, { sender, commandId: command.id, after }) : undefined;
  return loop === undefined
    ? { kind: "wait", unknown: after.filter((_, index) => others[index] === undefined) }
    : { kind: "blocked", problems: [{ path: "after", rule: loop }] };
};

/** @returns whether it has ended so */
const endAs = async (
  deps: CommandDeps,
  stored: Stored<Command>,
  ended: Command,
): Promise<boolean> => {
  const written = await writeCommand(deps, stored, ended);
  // If another writer was faster, it finishes the command.
  if (written) await finishCommand(deps, written);
  return written !== undefined;
};

const cancelled = (command: Command, problems: readonly Problem[], now: number): Command =>
  cancel(command, { now, reason: "dependency", problems });

type LaneEntry =
  | { readonly kind: "free" }
  /** Waits for other commands, at least until this time (epoch ms). */
  | { readonly kind: "waits"; readonly nextCheckAt: number }
  /** Ended because of a command in `after`. */
  | { readonly kind: "ended" };

/** Checks whether the command may enter its lane; if not, it keeps waiting, or ends. */
export const checkEntry = async (
  deps: CommandDeps,
  stored: Stored<Command>,
): Promise<LaneEntry> => {
  const { value: command } = stored;
  const status = await afterStatusOf(deps.ledger, command);
  if (status.kind === "clear") return { kind: "free" };
  const now = deps.clock.now();
  if (status.kind === "blocked") {
    await endAs(deps, stored, cancelled(command, status.problems, now));
    return { kind: "ended" };
  }
  const nextCheckAt = nextCheckOfOthersAt(command, now);
  const wait = (current: Command): Command => waitForOthers(current, nextCheckAt);
  await commands.update(deps.ledger, commandKey(command), wait, stored);
  return { kind: "waits", nextCheckAt };
};

/** Ends a command after its deadline. @returns whether it has; false if another writer was faster */
export const expireCommand = async (
  deps: CommandDeps,
  stored: Stored<Command>,
): Promise<boolean> => {
  const { value: command } = stored;
  const status = await afterStatusOf(deps.ledger, command);
  const now = deps.clock.now();
  const problems =
    status.kind === "wait"
      ? status.unknown.map((id) => ({
          path: `after.${(command.after ?? []).indexOf(id)}`,
          rule: `command ${id} was not accepted before the deadline`,
        }))
      : status.kind === "blocked"
        ? status.problems
        : [];
  const ended =
    problems.length > 0 ? cancelled(command, problems, now) : expire(loseLease(command, now), now);
  return endAs(deps, stored, ended);
};
