import { CommanderError } from "commander";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { createProgram } from "./program.ts";

/** Ends the program when its output is closed, as by `| head`. */
const endWithoutReader = (): void => {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(EXIT.noReader);
  });
};

const exitCodeOf = async (error: unknown): Promise<ExitCode> => {
  // Commander has already printed the mistake, or the help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.refused;
  const [{ programEnd }, { printNote }] = await Promise.all([
    import("./program-end.ts"),
    import("./render.ts"),
  ]);
  const { exitCode, text } = await programEnd(error);
  printNote(text);
  return exitCode;
};

const main = async (): Promise<void> => {
  // The user of this program cannot act on the SDK's advice to upgrade Node.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  endWithoutReader();
  const words = process.argv.slice(2);
  try {
    await (await createProgram((name) => words.includes(name))).parseAsync();
  } catch (error) {
    const exitCode = await exitCodeOf(error);
    // Status 2 means changes there, so that no error may end with it.
    const isDetailed = words.includes("--detailed-exitcode");
    process.exitCode = isDetailed && exitCode !== EXIT.ok ? EXIT.failed : exitCode;
  }
};

await main();
