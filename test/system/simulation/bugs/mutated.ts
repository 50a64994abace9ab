import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { context } from "esbuild";
import type { run } from "../run.ts";
import type { Mutation } from "./mutations.ts";

const LIB = join(process.cwd(), "lib");
/** As deep as the other bundles, which find schemas by a relative path. */
const FOLDER = join("dist", "simulation");

/** The module `run.ts`, bundled with one mutation. */
export type Simulation = { readonly run: typeof run };

const sourceOf = ({ file }: Mutation): string => join(LIB, file);

/** The source with its bug. @throws Error unless `find` occurs exactly once in its file */
export const mutatedSource = (mutation: Mutation): string => {
  const parts = readFileSync(sourceOf(mutation), "utf8").split(mutation.find);
  if (parts.length !== 2) {
    const count = parts.length - 1;
    throw new Error(`${mutation.name}: "find" occurs ${count} times in lib/${mutation.file}`);
  }
  return parts.join(mutation.replace);
};

/**
 * Builds simulations with one mutation each. Unchanged sources are parsed only once, so that a further build takes a
 * tenth of a second. Needs the repository as working directory.
 */
export const openMutatedBuilds = async () => {
  let current: Mutation | undefined;
  const bundler = await context({
    absWorkingDir: process.cwd(),
    entryPoints: ["test/system/simulation/run.ts"],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "warning",
    write: false,
    plugins: [
      {
        name: "mutation",
        setup({ onLoad }) {
          onLoad({ filter: /[\\/]lib[\\/].*\.ts$/ }, ({ path }) =>
            current && path === sourceOf(current)
              ? { contents: mutatedSource(current), loader: "ts" }
              : undefined,
          );
        },
      },
    ],
  });
  mkdirSync(FOLDER, { recursive: true });
  let last: Promise<unknown> = Promise.resolve();

  const build = async (mutation: Mutation): Promise<string> => {
    current = mutation;
    const { outputFiles } = await bundler.rebuild();
    const file = join(FOLDER, `bug-${mutation.name.replaceAll(/[^\w]+/g, "-")}.mjs`);
    writeFileSync(file, outputFiles[0]?.contents ?? "");
    return pathToFileURL(file).href;
  };

  return {
    /** Builds the simulation with this mutation, after all builds before. @returns the URL of its module */
    build(mutation: Mutation): Promise<string> {
      const built = last.then(() => build(mutation));
      last = built.catch(() => {});
      return built;
    },
    close: () => bundler.dispose(),
  };
};
