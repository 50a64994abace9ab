import { Command } from "commander";
import { version } from "../../package.json";
import { createSystemClock, createSystemRandom } from "../platform/system.ts";
import { EXIT_STATUSES } from "./exit-code.ts";
import { fitToTerminal } from "./help.ts";
import { wrapText } from "./layout.ts";
import { columnsOf } from "./render.ts";
import { addExamples, type DeclareVerb, type IsUsed, needed } from "./verb.ts";

interface Verb {
  /** Name and arguments, as the help lists them. */
  readonly usage: string;
  readonly summary: string;
  readonly load: () => Promise<DeclareVerb>;
}

/**
 * In the order of the help. A call loads the module of its verb only, and that module loads slow packages
 * (the database, the server, the AWS SDK) only in its action: `send` must not wait for them.
 */
const VERBS: readonly Verb[] = [
  {
    usage: "start [options]",
    summary: "Run Skyhook on this machine, with a demo",
    load: async () => (await import("./commands/start.ts")).declareStart,
  },
  {
    usage: "console [options]",
    summary: "Print the address of the console, or serve that of a stage",
    load: async () => (await import("./commands/console.ts")).declareConsole,
  },
  {
    usage: "service [options]",
    summary: "Run only the service, a local provider API",
    load: async () => (await import("./commands/service.ts")).declareService,
  },
  {
    usage: "send",
    summary: "Send a command to a running Skyhook",
    load: async () => (await import("./commands/send.ts")).declareSend,
  },
  {
    usage: "read",
    summary: "Read a resource from the provider's API",
    load: async () => (await import("./commands/read.ts")).declareRead,
  },
  {
    usage: "prices",
    summary: "Show the prices that Skyhook has recorded",
    load: async () => (await import("./commands/prices.ts")).declarePrices,
  },
  {
    usage: "reactions",
    summary: "Check a reactions file, or test a rule with an event",
    load: async () => (await import("./commands/reactions.ts")).declareReactions,
  },
  {
    usage: "dead-letters",
    summary: "Explain dead letters, or delete them",
    load: async () => (await import("./commands/dead-letters.ts")).declareDeadLetters,
  },
  {
    usage: "redrive [options] [id...]",
    summary: "Send dead letters back to their queues",
    load: async () => (await import("./commands/dead-letters.ts")).declareRedrive,
  },
  {
    usage: "thresholds",
    summary: "Plan, apply or export a thresholds file",
    load: async () => (await import("./commands/thresholds.ts")).declareThresholds,
  },
  {
    usage: "run [options] <job>",
    summary: "Run a scheduled job now and wait for its end",
    load: async () => (await import("./commands/run.ts")).declareRun,
  },
  {
    usage: "put-event [options] <file>",
    summary: "Put an event on the bus of a running Skyhook",
    load: async () => (await import("./commands/put-event.ts")).declarePutEvent,
  },
  {
    usage: "list [options]",
    summary: "List commands and rejected requests, the newest first",
    load: async () => (await import("./commands/list.ts")).declareList,
  },
  {
    usage: "backfill-list [options]",
    summary: "Add commands of an older version to a stage's list",
    load: async () => (await import("./commands/backfill-list.ts")).declareBackfillList,
  },
  {
    usage: "events [options]",
    summary: "Print events, also as they come",
    load: async () => (await import("./commands/events.ts")).declareEvents,
  },
  {
    usage: "status [options] <command-id>",
    summary: "Show a command's state, attempts and next steps",
    load: async () => (await import("./commands/status.ts")).declareStatus,
  },
  {
    usage: "cancel [options] [command-id]",
    summary: "Cancel a command",
    load: async () => (await import("./commands/cancel.ts")).declareCancel,
  },
  {
    usage: "resolve [options] <command-id>",
    summary: "Record the outcome of an unknown-outcome command",
    load: async () => (await import("./commands/resolve.ts")).declareResolve,
  },
  {
    usage: "lift-pause [options] <account>",
    summary: "End the pause of an account early",
    load: async () => (await import("./commands/lift-pause.ts")).declareLiftPause,
  },
  {
    usage: "init",
    summary: "Write the files of a stage into this folder",
    load: async () => (await import("./commands/init.ts")).declareInit,
  },
  {
    usage: "package [options]",
    summary: "Write the template and the zips of a stage",
    load: async () => (await import("./commands/package.ts")).declarePackage,
  },
  {
    usage: "deploy [options]",
    summary: "Deploy a stage to AWS",
    load: async () => (await import("./commands/deploy.ts")).declareDeploy,
  },
  {
    usage: "cost [options]",
    summary: "Estimate what a month of commands costs on AWS",
    load: async () => (await import("./commands/cost.ts")).declareCost,
  },
  {
    usage: "operations [options] [operation]",
    summary: "List operations, or the fields of one",
    load: async () => (await import("./commands/operations.ts")).declareOperations,
  },
  {
    usage: "schema <name> [event]",
    summary: "Print the JSON Schema of a file or an event",
    load: async () => (await import("./commands/schema.ts")).declareSchema,
  },
];

const EXIT_TEXT = [
  "\nExit status:",
  ...EXIT_STATUSES.map(({ status, meaning }) => `  ${String(status).padEnd(3)}  ${meaning}`),
].join("\n");

const nameOf = ({ usage }: Verb): string => usage.split(" ", 1).join("");

/**
 * The program with every verb in its help.
 * @param isUsed the verbs that also get their arguments, options and actions
 */
export const createProgram = async (isUsed: IsUsed): Promise<Command> => {
  const program = fitToTerminal(new Command("skyhook"))
    .description("Sends commands to a cloud provider's API and follows them to their end.")
    .version(version, "--version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "Print the help of a command")
    .exitOverride();
  addExamples(program, [
    "npx skyhook start                        # Skyhook here, with a demo",
    "npx skyhook operations                   # operations to send and to read",
    "npx skyhook operations update-container  # fields of an operation",
    "npx skyhook send resume-instance --help  # options of a command",
    "npx skyhook read get-instance --help     # options of a read",
  ]).addHelpText("after", () => wrapText(EXIT_TEXT, columnsOf(process.stdout)));
  const ports = { clock: createSystemClock(), random: createSystemRandom() };
  for (const verb of needed(VERBS, nameOf, isUsed)) {
    const { usage, summary, load } = verb;
    const name = nameOf(verb);
    const command = program
      .command(isUsed(name) ? name : usage)
      .summary(summary)
      .description(`${summary}.`);
    if (isUsed(name)) (await load())(command, ports, isUsed);
  }
  return program;
};
