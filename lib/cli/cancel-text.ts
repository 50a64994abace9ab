import type { CancelAnswer } from "../admin/answers.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { shellWord, visibleText } from "./render.ts";
import { endText } from "./request-state.ts";

/**
 * What a cancellation did, and the next step.
 * @param flags options that lead the next call to the same command
 */
export const cancelText = (commandId: string, answer: CancelAnswer, flags: string): string => {
  switch (answer.kind) {
    case "stopped":
      if (answer.unfollowed) {
        const tasks = visibleText(answer.unfollowed.join(", "));
        return `${commandId} is cancelled: Skyhook no longer follows task ${tasks}, which continues at the provider`;
      }
      return answer.status === "cancelled"
        ? `${commandId} is cancelled; it had no effect`
        : [
            `${commandId} ended as ${endText(answer)}: an earlier request may have taken effect`,
            `  next: check the effect at the provider, then npx skyhook resolve ${shellWord(commandId)} --applied | --not-applied${flags}`,
          ].join("\n");
    case "under-way":
      return `${commandId} is not cancelled: a request is in flight; its result is known within ${Math.ceil(answer.waitMs / 1000)} s: try again then`;
    case "following":
      return `${commandId} cannot be cancelled: the provider works on task ${visibleText(answer.taskIds.join(", "))}, which Skyhook follows to its end`;
    case "ended":
      return `${commandId} has ended already: ${endText(answer)}`;
    default:
      return answer satisfies never;
  }
};

export const cancelExitCode = (answer: CancelAnswer): ExitCode => {
  if (answer.kind === "under-way") return EXIT.timedOut;
  if (answer.kind !== "stopped") return EXIT.refused;
  return answer.status === "cancelled" ? EXIT.ok : EXIT.failed;
};
