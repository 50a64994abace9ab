import type { Stored } from "../ledger/record.ts";
import { type Command, commandKey, commands } from "./command.ts";
import { loseLease, waitForOthers } from "./command-transitions.ts";
import { lookAtOthersAt, type Standing, standingOf } from "./dependencies.ts";
import type { CommandDeps } from "./deps.ts";
import { cancel, expire } from "./end.ts";
import { finishCommand } from "./finish.ts";
import { writeCommand } from "./write-command.ts";

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
