import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type BuildOptions, build, context } from "esbuild";
import type { run } from "../run.ts";
import type { Mutation } from "./mutations.ts";

const LIB = join(process.cwd(), "lib");
/** As deep as the other bundles, which find schemas by a relative path. */
const FOLDER = join("dist", "simulation");

/**
 * Folders whose modules import no other part of `lib` but ports. All simulations share them, and the JavaScript modules
 * of the tests: they are loaded and optimized once.
 */
const SHARED = ["service", "contract"];

const OPTIONS = {
  absWorkingDir: process.cwd(),
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  logLevel: "warning",
} satisfies BuildOptions;

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

const isShared = (path: string): boolean =>
  SHARED.some((folder) => path.startsWith(join(LIB, folder, "/")));

/** Builds the shared modules. @returns the URL of each by its source */
const buildShared = async (): Promise<ReadonlyMap<string, string>> => {
  const sources = SHARED.flatMap((folder) =>
    readdirSync(join(LIB, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(LIB, folder, name)),
  ).filter((path) => !path.includes("docs-page"));
  const entries = sources.map((path) => ({
    in: path,
    out: `shared${path.slice(LIB.length, -".ts".length).replaceAll(/[\\/]/g, "-")}`,
  }));
  await build({
    ...OPTIONS,
    entryPoints: entries,
    outdir: FOLDER,
    outExtension: { ".js": ".mjs" },
    splitting: true,
  });
  return new Map(
    entries.map((entry) => [entry.in, pathToFileURL(resolve(FOLDER, `${entry.out}.mjs`)).href]),
  );
};

/**
 * Builds simulations with one mutation each. Unchanged sources are parsed only once, so that a further build takes a
 * tenth of a second. Needs the repository as working directory.
 */
export const openMutatedBuilds = async () => {
  let current: Mutation | undefined;
  const shared = await buildShared();
  const bundler = await context({
    ...OPTIONS,
    entryPoints: ["test/system/simulation/run.ts"],
    write: false,
    plugins: [
      {
        name: "mutation",
        setup({ onLoad, onResolve }) {
          onResolve({ filter: /^\.{1,2}\/.*\.mjs$/ }, ({ path, resolveDir }) => ({
            path: pathToFileURL(resolve(resolveDir, path)).href,
            external: true,
          }));
          onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, resolveDir }) => {
            const url = shared.get(resolve(resolveDir, path));
            return url === undefined || (current && isShared(sourceOf(current)))
              ? undefined
              : { path: url, external: true };
          });
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
