import type { Made, SenderAccess } from "./made-command.ts";
import { problemLines } from "./output.ts";
import { plainReply } from "./plain-reply.ts";
import { visibleText } from "./visible-text.ts";

const accessText = (access: SenderAccess, sender: string): string => {
  switch (access) {
    case "allowed":
      return `AWS account ${sender} may run it`;
    case "refused":
      return `AWS account ${sender} may not run it: look at the senders, operations and projects of the account`;
    case "if-own":
      return `AWS account ${sender} may run it if Skyhook runs in it (say so with --own ${sender})`;
    default:
      return access satisfies never;
  }
};

/** As JSON, which tells a number from a text; without values that a command must not show. */
const commandLines = (command: object): readonly string[] =>
  JSON.stringify(plainReply(command), undefined, 2).split("\n").map(visibleText);

const lines = (made: Made, sender: string): readonly string[] => {
  switch (made.kind) {
    case "no-match":
      return [`the event does not match on ${made.unfit.map(visibleText).join(", ")}`];
    case "incomplete":
      return [
        "the event matches",
        "no command, because the event lacks what it needs:",
        ...problemLines(made.problems).map(visibleText),
      ];
    case "invalid":
      return [
        "the event matches",
        "the command would be rejected:",
        ...problemLines(made.problems).map(visibleText),
        ...(made.command ? ["the command:", ...commandLines(made.command)] : []),
      ];
    case "command":
      return [
        "the event matches",
        "the command:",
        ...commandLines(made.command),
        ...(made.access ? [accessText(made.access, sender)] : []),
      ];
    default:
      return made satisfies never;
  }
};

/**
 * What becomes of an event by a rule, for a person.
 * @param sender the event's AWS account
 */
export const madeText = (made: Made, sender: string): string => lines(made, sender).join("\n");
