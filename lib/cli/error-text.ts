import * as z from "zod";
import { DataDirectoryError } from "../local/data-directory.ts";
import { SettingsError } from "../platform/lambda/settings.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { problemLines } from "./output.ts";

/** What an error that ends the program says to a person, and to a script. */
export interface ProgramEnd {
  readonly exitCode: ExitCode;
  readonly text: string;
}

const portErrorSchema = z.looseObject({ code: z.string(), port: z.number() });

const PORT_TROUBLE: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use by another program",
  EACCES: "may not be used by this user",
};

export const programEnd = (error: unknown): ProgramEnd => {
  if (error instanceof ExitError) return { exitCode: error.exitCode, text: error.message };
  if (error instanceof SettingsError) {
    const lines = problemLines(error.problems);
    return { exitCode: EXIT.refused, text: ["wrong settings:", ...lines].join("\n") };
  }
  if (error instanceof DataDirectoryError) return { exitCode: EXIT.refused, text: error.message };
  const { code = "", port } = portErrorSchema.safeParse(error).data ?? {};
  const trouble = PORT_TROUBLE[code];
  if (trouble !== undefined) {
    const text = `port ${port} ${trouble}; give another one, or none for a free one`;
    return { exitCode: EXIT.refused, text };
  }
  return { exitCode: EXIT.failed, text: error instanceof Error ? error.message : String(error) };
};
