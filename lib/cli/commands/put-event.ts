import { LOCAL_SENDER } from "../../local/aws-events.ts";
import type { PutAnswer, RuleOutcome } from "../../local/put-request.ts";
import { createGatewayClient } from "../admin/gateway.ts";
import { readEvent } from "../config-files.ts";
import { checkedEndpoint } from "../endpoint.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { printNote, printResult, problemLines, shellWord, visibleText } from "../render.ts";
import { type DeclareVerb, ending, endpointOption } from "../verb.ts";

interface PutFlags {
  readonly endpoint?: string;
  /** AWS account that puts the event; absent: the account in the file, or Skyhook's own. */
  readonly from?: string;
  /** `default`, or absent for Skyhook's own. */
  readonly bus?: string;
}

const outcomeLines = (outcome: RuleOutcome): readonly string[] => {
  const rule = visibleText(outcome.rule);
  switch (outcome.kind) {
    case "no-match":
      return [`${rule}: does not match on ${outcome.unfit.map(visibleText).join(", ")}`];
    case "command":
      return [`${rule}: matches, command ${visibleText(outcome.commandId)}`];
    case "rejected": {
      const id = outcome.commandId === undefined ? "" : `, ${visibleText(outcome.commandId)}`;
      return [
        `${rule}: matches, but its command is rejected (${outcome.reason})${id}`,
        ...problemLines(outcome.problems),
      ];
    }
    default:
      return outcome satisfies never;
  }
};

/** The command that shows each command's progress, or why there is none to show. */
const nextLines = ({ rules, account }: PutAnswer): readonly string[] => {
  if (rules.every(({ kind }) => kind === "no-match")) {
    return ["No reaction matches: no command comes of this event."];
  }
  const sender = account === LOCAL_SENDER ? "" : ` --sender ${account}`;
  return rules.flatMap((outcome) =>
    outcome.kind === "command"
      ? ["Follow it:", `  npx skyhook status ${shellWord(outcome.commandId)}${sender}`]
      : [],
  );
};

/**
 * Puts an event on the bus of a running Skyhook, as its own AWS account or another one. Prints the id
 * of the event on stdout, and what each reaction makes of it on stderr.
 * @throws ExitError when no Skyhook answers, or the bus refuses the event
 */
const putEvent = async (file: string, flags: PutFlags): Promise<ExitCode> => {
  const gateway = createGatewayClient(checkedEndpoint(flags.endpoint));
  const { from, bus } = flags;
  const event = {
    ...readEvent(file),
    ...(from !== undefined && { account: from }),
    ...(bus !== undefined && { bus }),
  };
  const answer = await gateway.put(event);
  printResult(answer.id);
  printNote([...answer.rules.flatMap(outcomeLines), ...nextLines(answer)].join("\n"));
  return EXIT.ok;
};

export const declarePutEvent: DeclareVerb = (command) => {
  command
    .argument("<file>", "the event: source, detail-type, detail; - for standard input")
    .option("--from <aws-account>", "AWS account that puts it (default: Skyhook's own)")
    .option("--bus <name>", "`default`: the bus where AWS services put theirs")
    .addOption(endpointOption())
    .action(ending(putEvent));
};
