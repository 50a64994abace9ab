import { Command, CommanderError } from "commander";
import { version } from "../../package.json";
import { createSystemClock, createSystemRandom } from "../platform/system.ts";
import { EXIT, type ExitCode, programEnd } from "./exit-code.ts";
import { printNote } from "./render.ts";
import type { DeclareVerb } from "./verb.ts";

interface Verb {
  /** As the help lists it. */
  readonly usage: string;
  readonly description: string;
  readonly load: () => Promise<DeclareVerb>;
}

/**
 * In the order of the help. A call loads the module of its verb only, and a module loads what takes longest
 * (the database, the server, the AWS SDK) only in its action: a `send` must not wait for them.
 */
const VERBS: readonly Verb[] = [
  {
    usage: "start [options]",
    description: "run the provider's service and the automation on this machine, with a demo",
    load: async () => (await import("./commands/start.ts")).declareStart,
  },
  {
    usage: "service [options]",
    description: "run the provider's service alone",
    load: async () => (await import("./commands/service.ts")).declareService,
  },
  {
    usage: "send",
    description: "send a command to a running Skyhook",
    load: async () => (await import("./commands/send.ts")).declareSend,
  },
  {
    usage: "read",
    description: "read something from the provider itself; nothing changes",
    load: async () => (await import("./commands/read.ts")).declareRead,
  },
  {
    usage: "prices",
    description: "show what a running Skyhook remembers of prices",
    load: async () => (await import("./commands/prices.ts")).declarePrices,
  },
  {
    usage: "reactions",
    description: "look at the rules that turn events into commands; nothing is sent",
    load: async () => (await import("./commands/reactions.ts")).declareReactions,
  },
  {
    usage: "dead-letters",
    description: "messages that could not be handled: what they are, and what to do with them",
    load: async () => (await import("./commands/dead-letters.ts")).declareDeadLetters,
  },
  {
    usage: "redrive [options] [id...]",
    description: "send dead letters back into their queues",
    load: async () => (await import("./commands/dead-letters.ts")).declareRedrive,
  },
  {
    usage: "thresholds",
    description: "compare a thresholds file with the provider, apply it, or write one",
    load: async () => (await import("./commands/thresholds.ts")).declareThresholds,
  },
  {
    usage: "run [options] <job>",
    description: "run a scheduled job now, as its schedule does, and wait for its end",
    load: async () => (await import("./commands/run.ts")).declareRun,
  },
  {
    usage: "put-event [options] <file>",
    description: "put an event on the bus of a running Skyhook, as an AWS account does",
    load: async () => (await import("./commands/put-event.ts")).declarePutEvent,
  },
  {
    usage: "status [options] <command-id>",
    description: "show where a command stands, every request of it, and what can be done",
    load: async () => (await import("./commands/status.ts")).declareStatus,
  },
  {
    usage: "cancel [options] <command-id>",
    description: "end a command that nobody wants any more",
    load: async () => (await import("./commands/cancel.ts")).declareCancel,
  },
  {
    usage: "resolve [options] <command-id>",
    description: "say what became of a command that ended as unknown-outcome",
    load: async () => (await import("./commands/resolve.ts")).declareResolve,
  },
  {
    usage: "lift-pause [options] <account>",
    description: "let an account send again that the provider has asked to pause",
    load: async () => (await import("./commands/lift-pause.ts")).declareLiftPause,
  },
  {
    usage: "operations [options] [operation]",
    description: "show what can be sent and read, with every field and limit",
    load: async () => (await import("./commands/operations.ts")).declareOperations,
  },
];

const EXAMPLES = `
First steps:
  npx skyhook start                          everything on this machine, with a demo
  npx skyhook operations                     what can be sent and read
  npx skyhook operations update-container    its fields and their limits
  npx skyhook send resume-instance --help    how to send one
  npx skyhook read get-instance --help       how to look at what it did

Exit status:
  ${EXIT.ok}  done
  ${EXIT.failed}  the command or the job failed, or the demo did not end as expected
  ${EXIT.refused}  refused: wrong usage, wrong settings or a rejected request
  ${EXIT.unreachable}  nothing answers at the given address
  ${EXIT.timedOut}  waited long enough; the command goes on`;

const createProgram = async (words: readonly string[]): Promise<Command> => {
  const program = new Command("skyhook")
    .description("Sends commands to a cloud provider's API and follows them to their end.")
    .version(version, "--version", "print the version")
    .configureHelp({ helpWidth: Math.min(process.stdout.columns ?? 100, 110) })
    .addHelpText("after", EXAMPLES)
    .exitOverride();
  const ports = { clock: createSystemClock(), random: createSystemRandom() };
  for (const { usage, description, load } of VERBS) {
    const [name = ""] = usage.split(" ");
    const isTyped = words.includes(name);
    // A verb that was not typed is there for the help only.
    const command = program.command(isTyped ? name : usage).description(description);
    if (isTyped) (await load())(command, ports);
  }
  return program;
};

/** Ends the program when its output is closed, as after `| head`. */
const endWithoutReader = (): void => {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(EXIT.failed);
  });
};

const exitCodeOf = async (error: unknown): Promise<ExitCode> => {
  // Commander has already said what is wrong, or shown the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.refused;
  const { exitCode, text } = await programEnd(error);
  printNote(text);
  return exitCode;
};

const main = async (): Promise<void> => {
  // The SDK's advice to upgrade Node is for who chooses its version; that is us, for the functions.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  endWithoutReader();
  try {
    await (await createProgram(process.argv.slice(2))).parseAsync();
  } catch (error) {
    const exitCode = await exitCodeOf(error);
    // Status 2 means changes there, so that no error may end with it.
    const isDetailed = process.argv.includes("--detailed-exitcode");
    process.exitCode = isDetailed && exitCode !== EXIT.ok ? EXIT.failed : exitCode;
  }
};

await main();
