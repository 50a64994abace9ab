import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";

/** A TypeScript file, bundled so that every supported Node version can run it. */
export interface Program {
  /** Runs the file and kills it with SIGKILL after some lines of output. Resolves with its output. */
  runUntilKilled(args: readonly string[], afterLines: number): Promise<readonly string[]>;
  /** Runs the file to its end. Resolves with its exit status or the signal that ended it. */
  run(args: readonly string[]): Promise<number | NodeJS.Signals | null>;
  remove(): Promise<void>;
}

export const buildProgram = async (entry: string): Promise<Program> => {
  // Below node_modules, so that Node finds the packages that are not in the bundle.
  const directory = await mkdtemp(join("node_modules", ".skyhook-test-"));
  const outfile = join(directory, "program.mjs");
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "error",
  });

  const start = (args: readonly string[]) => {
    const child = spawn(process.execPath, [outfile, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    return { child, exited: once(child, "exit").then(([code, signal]) => code ?? signal) };
  };

  return {
    async runUntilKilled(args, afterLines) {
      const { child, exited } = start(args);
      const lines: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line);
        if (lines.length === afterLines) child.kill("SIGKILL");
      }
      await exited;
      return lines;
    },
    async run(args) {
      const { child, exited } = start(args);
      child.stdout.resume();
      return exited;
    },
    remove: () => rm(directory, { recursive: true }),
  };
};
