import * as z from "zod";
import { SettingsError } from "../platform/lambda/settings.ts";
import { problemLines } from "./render.ts";

/** The exit status of `skyhook`, for scripts. */
export const EXIT = {
  /** Done as asked. */
  ok: 0,
  /** The command ended as failed or cancelled, or the demo not as expected. */
  failed: 1,
  /** Wrong usage, wrong settings, or a request that was rejected: the same again fails again. */
  refused: 2,
  /** Of `thresholds plan --detailed-exitcode`: something would change. Every error is 1 there. */
  changes: 2,
  /** Nothing answers at the given address: no running Skyhook, no provider. */
  unreachable: 3,
  /** Waiting took longer than `--wait-seconds`; the command goes on. */
  timedOut: 4,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the program with a message for people and a status for scripts. */
export class ExitError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.name = "ExitError";
    this.exitCode = exitCode;
  }
}

/** The text of an error for a person, and its status for a script. */
interface ProgramEnd {
  readonly exitCode: ExitCode;
  readonly text: string;
}

const portErrorSchema = z.looseObject({ code: z.string(), port: z.number() });

const PORT_TROUBLE: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use by another program",
  EACCES: "may not be used by this user",
};

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
    const text = `port ${port} ${trouble}; give another one, or none for a free one`;
    return { exitCode: EXIT.refused, text };
  }
  return { exitCode: EXIT.failed, text: error instanceof Error ? error.message : String(error) };
};
