import type { PutAnswer, RuleOutcome } from "../../admin/answers.ts";
import { LOCAL_SENDER } from "../../local/local-sender.ts";
import { createGatewayClient } from "../admin/gateway.ts";
import { readEvent } from "../config-files.ts";
import { runAddress } from "../endpoint.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { printNote, printResult, problemLines, shellWord, visibleText } from "../render.ts";
import { addExamples, type DeclareVerb, ending, endpointOption, sameTargetFlags } from "../verb.ts";

interface PutFlags {
  readonly endpoint?: string;
  /** AWS account that puts the event; default: the account in the file, or Skyhook's own. */
  readonly from?: string;
  /** `default`; absent: Skyhook's own bus. */
  readonly bus?: string;
}

const outcomeLines = (outcome: RuleOutcome): readonly string[] => {
  const rule = visibleText(outcome.rule);
  switch (outcome.kind) {
    case "no-match":
      return [`${rule}: no match on ${outcome.unfit.map(visibleText).join(", ")}`];
    case "command":
      return [`${rule}: matches, command ${visibleText(outcome.commandId)}`];
    case "rejected": {
      const id = outcome.commandId === undefined ? "" : `, ${visibleText(outcome.commandId)}`;
      return [
        `${rule}: matches, command rejected (${outcome.reason})${id}`,
        ...problemLines(outcome.problems),
      ];
    }
    default:
      return outcome satisfies never;
  }
};

/** The next command to type for each command, or a note that there is none. */
const nextLines = ({ rules, account }: PutAnswer, endpoint?: string): readonly string[] => {
  if (rules.every(({ kind }) => kind === "no-match")) {
    return ["No reaction matches this event, so it creates no command."];
  }
  const sender = account === LOCAL_SENDER ? undefined : account;
  const flags = sameTargetFlags({ endpoint, sender });
  return rules.flatMap((outcome) =>
    outcome.kind === "command"
      ? ["Follow it:", `  npx skyhook status ${shellWord(outcome.commandId)}${flags}`]
      : [],
  );
};

/**
 * Puts an event on the bus of a running Skyhook, as Skyhook's AWS account or another one. Prints the event id
 * on stdout, and the result of each reaction on stderr.
 * @throws ExitError when no Skyhook answers, or the bus refuses the event
 */
const putEvent = async (file: string, flags: PutFlags): Promise<ExitCode> => {
  const gateway = createGatewayClient(runAddress(flags.endpoint));
  const { from, bus } = flags;
  const event = {
    ...readEvent(file),
    ...(from !== undefined && { account: from }),
    ...(bus !== undefined && { bus }),
  };
  const answer = await gateway.put(event);
  printResult(answer.id);
  printNote(
    [...answer.rules.flatMap(outcomeLines), ...nextLines(answer, flags.endpoint)].join("\n"),
  );
  return answer.rules.some(({ kind }) => kind === "rejected") ? EXIT.refused : EXIT.ok;
};

const DESCRIPTION = `Puts an event on the bus of a running Skyhook, as EventBridge does for an AWS account. It prints the event id on stdout, and the result of each reaction on stderr. It ends with status 2 if a command is rejected.`;

export const declarePutEvent: DeclareVerb = (command) => {
  addExamples(command.description(DESCRIPTION), [
    "npx skyhook put-event event.json",
    "npx skyhook put-event event.json --from 111122223333",
    "npx skyhook put-event - --bus default < event.json",
  ])
    .argument("<file>", "JSON object with source, detail-type and detail; - for standard input")
    .option("--from <aws-account>", "AWS account that puts the event (default: Skyhook's own)")
    .option(
      "--bus <name>",
      "`default`: the bus for events of AWS services (default: Skyhook's bus)",
    )
    .addOption(endpointOption())
    .action(ending(putEvent));
};
