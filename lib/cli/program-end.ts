import * as z from "zod";
import { SettingsError } from "../platform/lambda/settings.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { problemLines } from "./render.ts";

/** The text of an error for the user, and the exit status for scripts. */
interface ProgramEnd {
  readonly exitCode: ExitCode;
  readonly text: string;
}

const portErrorSchema = z.looseObject({ code: z.string(), port: z.number() });

const PORT_TROUBLE: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use by another program",
  EACCES: "is not permitted for this user",
};

const fileErrorSchema = z.looseObject({ code: z.string(), syscall: z.string(), path: z.string() });

const FILE_TROUBLE: Readonly<Record<string, string>> = {
  EACCES: "is not permitted for this user",
  EEXIST: "exists, and is no folder",
  ENOENT: "does not exist",
  ENOSPC: "does not fit on the disk, which is full",
  ENOTDIR: "has a file in its path, where a folder is needed",
  EROFS: "is on a file system that cannot be written",
};

/** Turns any error into the text and the exit status that end the program. */
export const programEnd = async (error: unknown): Promise<ProgramEnd> => {
  if (error instanceof ExitError) return { exitCode: error.exitCode, text: error.message };
  if (error instanceof SettingsError) {
    const lines = problemLines(error.problems);
    return { exitCode: EXIT.refused, text: ["wrong settings:", ...lines].join("\n") };
  }
  const { DataDirectoryError } = await import("../local/data-directory.ts");
  if (error instanceof DataDirectoryError) return { exitCode: EXIT.refused, text: error.message };
  const { code = "", port } = portErrorSchema.safeParse(error).data ?? {};
  const trouble = PORT_TROUBLE[code];
  if (trouble !== undefined) {
    const text = `port ${port} ${trouble}; choose another port, or omit the option to get a free one`;
    return { exitCode: EXIT.refused, text };
  }
  // An error of a free port has no port.
  if (error instanceof Error && "code" in error && error.code === "EADDRNOTAVAIL") {
    const text = "--listen: must be an address of this machine, such as 127.0.0.1 or 0.0.0.0";
    return { exitCode: EXIT.refused, text };
  }
  const file = fileErrorSchema.safeParse(error).data;
  const fileTrouble = FILE_TROUBLE[file?.code ?? ""];
  if (file && fileTrouble !== undefined) {
    return { exitCode: EXIT.refused, text: `${file.path}: ${fileTrouble}` };
  }
  return { exitCode: EXIT.failed, text: error instanceof Error ? error.message : String(error) };
};
