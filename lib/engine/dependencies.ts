import type { Problem } from "../contract/problem.ts";
import type { Stored } from "../ledger/record.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { type Command, commandKey, commands, isBeforeItsLane, isEnded } from "./command.ts";
import { cancel, expire } from "./command-events.ts";
import { loseLease, waitForOthers } from "./command-transitions.ts";
import type { CommandDeps } from "./deps.ts";
import { finishCommand, writeCommand } from "./finish.ts";

/** Further than this nobody looks along commands that wait for each other. */
const MAX_CHAIN = 100;

const FIRST_LOOK_MS = 2_000;
const LAST_LOOK_MS = 30_000;
/** Looking after each further fifth of the time waited starts a command late by a fifth at most. */
const PART_OF_WAIT = 0.2;

/** When to look again at a command that waits for others, epoch ms. */
const lookAtOthersAt = ({ acceptedAt }: Command, now: number): number =>
  now +
  Math.round(Math.min(LAST_LOOK_MS, Math.max(FIRST_LOOK_MS, (now - acceptedAt) * PART_OF_WAIT)));

interface Waiting {
  readonly sender: string;
  readonly commandId: string;
  readonly after: readonly string[];
}

const read = async (ledger: Ledger, sender: string, id: string): Promise<Command | undefined> =>
  (await commands.read(ledger, commandKey({ sender, id })))?.value;

/**
 * Whether a command waits for itself through others that wait. Commands in a lane wait for nobody
 * named: whatever they waited for has succeeded.
 * @returns the rule that is broken, or undefined
 */
export const findLoop = async (
  ledger: Ledger,
  { sender, commandId, after }: Waiting,
): Promise<string | undefined> => {
  const seen = new Set<string>();
  let next = [...after];
  while (next.length > 0) {
    if (next.includes(commandId)) return "these commands wait for this one";
    const found = await Promise.all(next.map((id) => read(ledger, sender, id)));
    for (const id of next) seen.add(id);
    if (seen.size > MAX_CHAIN) return `leads to more than ${MAX_CHAIN} other commands`;
    const named = found.flatMap((command) =>
      command && isBeforeItsLane(command) ? (command.after ?? []) : [],
    );
    next = [...new Set(named)].filter((id) => !seen.has(id));
  }
  return undefined;
};

/** What the commands of `after` allow: to go on, to wait on, or nothing any more. */
type Standing =
  | { readonly kind: "clear" }
  | { readonly kind: "wait"; readonly unknown: readonly string[] }
  | { readonly kind: "hopeless"; readonly problems: readonly Problem[] };

/** Why a command that has ended lets nobody go on who waited for it; undefined if it does. */
const hindranceOf = (other: Command, waiting: Command): string | undefined => {
  if (!isEnded(other)) return undefined;
  const { status, reason, outcome } = other.state;
  if (status !== "succeeded") return `${other.id} was not successful: ${status} (${reason})`;
  return outcome === "dry-run" && !waiting.dryRun ? `${other.id} was a dry run` : undefined;
};

/** Looks at what a command waits for, if it does. */
const standingOf = async (ledger: Ledger, command: Command): Promise<Standing> => {
  const { sender, after = [] } = command;
  if (after.length === 0 || !isBeforeItsLane(command)) return { kind: "clear" };
  const others = await Promise.all(after.map((id) => read(ledger, sender, id)));
  const problems = others.flatMap((other, index) => {
    const rule = other && hindranceOf(other, command);
    return rule === undefined ? [] : [{ path: `after.${index}`, rule }];
  });
  if (problems.length > 0) return { kind: "hopeless", problems };
  if (others.every((other) => other && isEnded(other))) return { kind: "clear" };
  // Two that name each other may be accepted at one moment; the later of the two writes is seen here.
  const isNew = command.state.status === "accepted";
  const loop = isNew ? await findLoop(ledger, { sender, commandId: command.id, after }) : undefined;
  return loop === undefined
    ? { kind: "wait", unknown: after.filter((_, index) => others[index] === undefined) }
    : { kind: "hopeless", problems: [{ path: "after", rule: loop }] };
};

const endAs = async (deps: CommandDeps, stored: Stored<Command>, ended: Command): Promise<void> => {
  const written = await writeCommand(deps, stored, ended);
  // Somebody else moved it in the meantime: that one goes on with it.
  if (written) await finishCommand(deps, written.value);
};

const cancelForOthers = (
  deps: CommandDeps,
  stored: Stored<Command>,
  { problems }: Extract<Standing, { kind: "hopeless" }>,
): Promise<void> => {
  const now = deps.clock.now();
  return endAs(deps, stored, cancel(stored.value, { now, reason: "dependency", problems }));
};

export type LaneEntry =
  | { readonly kind: "free" }
  /** Of others; looked at again at `lookAt`, epoch ms. */
  | { readonly kind: "waits"; readonly lookAt: number }
  /** Because of a command that it waited for. */
  | { readonly kind: "ended" };

/** Looks whether the command may enter its lane; if not, it waits on, or ends. */
export const lookForEntry = async (
  deps: CommandDeps,
  stored: Stored<Command>,
): Promise<LaneEntry> => {
  const standing = await standingOf(deps.ledger, stored.value);
  switch (standing.kind) {
    case "clear":
      return { kind: "free" };
    case "wait": {
      const lookAt = lookAtOthersAt(stored.value, deps.clock.now());
      await commands.update(deps.ledger, commandKey(stored.value), (command) =>
        waitForOthers(command, lookAt),
      );
      return { kind: "waits", lookAt };
    }
    case "hopeless":
      await cancelForOthers(deps, stored, standing);
      return { kind: "ended" };
    default:
      return standing satisfies never;
  }
};

/** Why a command that waits for others ends with its deadline because of them. */
const atDeadline = (command: Command, standing: Standing): Standing =>
  standing.kind === "wait" && standing.unknown.length > 0
    ? {
        kind: "hopeless",
        problems: standing.unknown.map((id) => ({
          path: `after.${(command.after ?? []).indexOf(id)}`,
          rule: `no command ${id} was known by the deadline`,
        })),
      }
    : standing;

/** Ends a command whose deadline has passed, unless somebody moved it in the meantime. */
export const expireCommand = async (deps: CommandDeps, stored: Stored<Command>): Promise<void> => {
  const standing = atDeadline(stored.value, await standingOf(deps.ledger, stored.value));
  if (standing.kind === "hopeless") return cancelForOthers(deps, stored, standing);
  const now = deps.clock.now();
  await endAs(deps, stored, expire(loseLease(stored.value, now), now));
};
