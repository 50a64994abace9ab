import { type Command, isEnded } from "../engine/command.ts";
import type { RejectionReason } from "../engine/request.ts";
import { clipped } from "../events/listing.ts";
import type { Letter } from "./dead-letter.ts";
import type { Explanation } from "./dead-letter-views.ts";
import type { Finding } from "./diagnosis.ts";

type Words = Pick<Explanation, "advice" | "deletingLoses" | "redrive" | "standing">;

/** To the second: for people. */
const timeText = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** What a dead letter is. */
export const whatText = (letter: Letter): string => {
  switch (letter.kind) {
    case "resume":
      return "Skyhook's own message: its command is to go on";
    case "forged":
      return `a request that says intake has sealed it for AWS account ${clipped(letter.sender)}, and its seal is not ours`;
    case "unreadable":
      return `nothing that Skyhook understands: ${letter.why}`;
    case "ignored":
      return `nothing that intake understands: ${clipped(letter.why)}`;
    case "reaction":
      return `an event of AWS account ${clipped(letter.source.sender)} for the reaction ${clipped(letter.reaction)}, not accepted by intake`;
    case "request": {
      const { sender } = letter.source;
      if (letter.origin === "direct") return "a request that was sent to the queue directly";
      if (letter.origin === "event") {
        return `an event of AWS account ${clipped(sender)} that asks for a command and was not accepted by intake`;
      }
      const seal =
        letter.origin === "intake" ? "" : " (seal not checked: its key is not known here)";
      return `a request of AWS account ${clipped(sender)}, sealed by intake${seal}`;
    }
    default:
      return letter satisfies never;
  }
};

const commandText = (command: Command): string => {
  if (!isEnded(command)) {
    const since = timeText(command.acceptedAt);
    const until = timeText(command.deadline);
    return `${command.state.status}, accepted ${since}; goes on by itself until ${until} at the latest`;
  }
  const { status, reason, endedAt } = command.state;
  return `ended ${timeText(endedAt)} as ${status}${reason === undefined ? "" : ` (${reason})`}`;
};

const knownWords = ({ command, isCompared }: Extract<Finding, { kind: "known" }>): Words => ({
  standing: `in the ledger: ${commandText(command)}${isCompared ? "" : "; whether its payload is the same is not checked"}`,
  redrive: "changes nothing",
  advice: "delete",
  deletingLoses: "nothing",
});

/** Reasons that pass, or that somebody can take away: a rejection now would lose the command. */
const PASSING: ReadonlySet<RejectionReason> = new Set(["lane-full", "not-allowed"]);

const refusedWords = (finding: Extract<Finding, { kind: "refused" }>, isTold: boolean): Words => {
  const { reason } = finding.refusal;
  const { command } = finding;
  const standing = command
    ? `a command with its id is in the ledger: ${commandText(command)}`
    : "not in the ledger: never accepted";
  if (!isTold) {
    const redrive = `rejects it (${reason}); nobody can be told, because it has no id`;
    return { standing, redrive, advice: "delete", deletingLoses: "nothing" };
  }
  const redrive = `rejects it (${reason}), and tells its sender`;
  return PASSING.has(reason) && !command
    ? { standing, redrive, advice: "mend", deletingLoses: "command" }
    : { standing, redrive, advice: "redrive", deletingLoses: "rejection" };
};

const RIGHTS_UNKNOWN = ", if its sender may: rights are not checked without --accounts";

/** @param isTold whether its sender can be told of a rejection */
export const wordsOf = (finding: Finding, isTold: boolean): Words => {
  switch (finding.kind) {
    case "unreadable":
      return {
        standing: "no command",
        redrive: "rejects it; nobody can be told, because it has no id",
        advice: "delete",
        deletingLoses: "nothing",
      };
    case "forged":
      return {
        standing:
          "no command: somebody else wrote it, or the fingerprint key is another one by now",
        redrive: "rejects it; nobody can be told, because nobody knows whose it is",
        advice: "delete",
        deletingLoses: "nothing",
      };
    case "ignored":
      return {
        standing: "no command",
        redrive: "changes nothing: intake ignores it",
        advice: "delete",
        deletingLoses: "nothing",
      };
    case "reacting":
      return {
        standing: finding.isIdKnown
          ? "not in the ledger: never accepted"
          : "not in the ledger under this id; a rule with `key` gives its command another id",
        redrive: "gives it to intake again, which applies the reaction",
        advice: "redrive",
        deletingLoses: "command",
      };
    case "stuck":
      return {
        standing: "its command's ledger item cannot be read by this version",
        redrive: "fails as before, until a version runs that can read the item",
        advice: "mend",
        deletingLoses: "command",
      };
    case "forgotten":
      return {
        standing: "its command is not in the ledger (any more)",
        redrive: "changes nothing",
        advice: "delete",
        deletingLoses: "nothing",
      };
    case "known":
      return knownWords(finding);
    case "runnable":
      return {
        standing: "not in the ledger: never accepted",
        redrive: `runs it${finding.isRightChecked ? "" : RIGHTS_UNKNOWN}`,
        advice: "redrive",
        deletingLoses: "command",
      };
    case "untimed":
      return {
        standing:
          "not in the ledger, and more than 30 days old: it may have run, and been forgotten since",
        redrive: "could run it a second time, so it is not sent back: send it anew if it is wanted",
        advice: "mend",
        deletingLoses: "command",
      };
    case "refused":
      return refusedWords(finding, isTold);
    default:
      return finding satisfies never;
  }
};
