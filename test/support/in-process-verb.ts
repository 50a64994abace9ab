import { CommanderError } from "commander";
import { EXIT } from "../../lib/cli/exit-code.ts";
import { createProgram } from "../../lib/cli/program.ts";
import { programEnd } from "../../lib/cli/program-end.ts";
import { printNote } from "../../lib/cli/render.ts";

/** Runs a verb in this process, as `main.ts` does. Sets the exit status of the process. */
export const performVerb = async (args: readonly string[]): Promise<void> => {
  try {
    const program = await createProgram((name) => args.includes(name));
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.refused;
      return;
    }
    const { exitCode, text } = await programEnd(error);
    printNote(text);
    process.exitCode = exitCode;
  }
};

/** Collects what is written to a stream until it is given back. */
const capture = (stream: NodeJS.WriteStream) => {
  const { write } = stream;
  let text = "";
  stream.write = (chunk: unknown, ...rest: readonly unknown[]) => {
    text += chunk;
    const written = rest.at(-1);
    if (typeof written === "function") written();
    return true;
  };
  return {
    text: () => text,
    giveBack: () => {
      stream.write = write;
    },
  };
};

const run = async (
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly exitCode: unknown; readonly stdout: string; readonly stderr: string }> => {
  const { env, exitCode } = process;
  const { PATH = "", XDG_STATE_HOME = "" } = env;
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  // The last one suppresses advice of the AWS SDK, as `main.ts` does.
  const common = {
    PATH,
    XDG_STATE_HOME,
    NO_COLOR: "1",
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
  };
  process.env = { ...common, ...environment };
  process.exitCode = EXIT.ok;
  try {
    await performVerb(args);
    return { exitCode: process.exitCode, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    stdout.giveBack();
    stderr.giveBack();
    process.env = env;
    process.exitCode = exitCode;
  }
};

let last: Promise<unknown> = Promise.resolve();

/**
 * As `runSkyhook` without input, but in this process, which takes a tenth of the CPU time. Runs one verb after the
 * other. A file that tests a verb also runs it as a program at least once.
 */
export const runVerb = (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): ReturnType<typeof run> => {
  const ended = last.then(() => run(args, environment));
  last = ended.catch(() => {});
  return ended;
};
