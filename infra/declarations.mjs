/**
 * Writes the declaration files of the public entries (`lib/exports/*.ts`) to dist/types, with maps to copies of their
 * sources in dist/sources. Keeps only the files that an entry imports, because the compiler writes one for each file
 * that it reads.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/** A relative specifier in a declaration file; sources name files with their real extension. */
const SPECIFIER = /((?:from|import)\s*\(?")(\.{1,2}\/[^"]+)\.ts"/g;

/**
 * The extension `.js` is what compilers of all versions resolve to a declaration file. It has as many characters as
 * `.ts`, so the columns of the map stay right.
 */
const withJsExtensions = (text) => text.replace(SPECIFIER, '$1$2.js"');

const importsOf = (file, text) =>
  [...text.matchAll(SPECIFIER)].map(([, , path]) => resolve(dirname(file), `${path}.d.ts`));

/** The declaration files that the entries need, with their texts. */
const reachable = (entries) => {
  const texts = new Map();
  const open = [...entries];
  for (const file of open) {
    if (texts.has(file)) continue;
    const text = readFileSync(file, "utf8");
    texts.set(file, text);
    open.push(...importsOf(file, text));
  }
  return texts;
};

/** Path of the source of a declaration file, below lib/. */
const sourceOf = (types, file) => relative(types, file).replace(/\.d\.ts$/, ".ts");

/**
 * Errors in the sources of kept files. Others have types that no declaration can name, and need none.
 * @param output of the compiler: `lib/FILE(LINE,COLUMN): error …`
 */
const errorsIn = (output, kept) =>
  output.split("\n").filter((line) => kept.has(/^lib\/(.+?)\(\d+,\d+\): error/.exec(line)?.[1]));

/** @param root folder of the repository */
export const buildDeclarations = (root) => {
  const lib = join(root, "lib");
  const types = join(root, "dist", "types");
  const sources = join(root, "dist", "sources");
  for (const folder of [types, sources]) rmSync(folder, { recursive: true, force: true });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const project = join(root, "infra", "tsconfig.declarations.json");
  const run = spawnSync(process.execPath, [tsc, "--project", project], {
    cwd: root,
    encoding: "utf8",
  });
  const names = readdirSync(join(lib, "exports")).filter((file) => file.endsWith(".ts"));
  const entries = names.map((name) => join(types, "exports", name.replace(/\.ts$/, ".d.ts")));
  const kept = reachable(entries);
  const errors = errorsIn(
    run.stdout,
    new Set([...kept.keys()].map((file) => sourceOf(types, file))),
  );
  if (errors.length > 0 || run.stderr !== "") throw new Error([...errors, run.stderr].join("\n"));
  const maps = new Map([...kept.keys()].map((file) => [file, readFileSync(`${file}.map`, "utf8")]));
  rmSync(types, { recursive: true });
  for (const [file, text] of kept) {
    const name = sourceOf(types, file);
    const source = join(sources, name);
    mkdirSync(dirname(file), { recursive: true });
    mkdirSync(dirname(source), { recursive: true });
    copyFileSync(join(lib, name), source);
    writeFileSync(file, withJsExtensions(text));
    const map = { ...JSON.parse(maps.get(file)), sources: [relative(dirname(file), source)] };
    writeFileSync(`${file}.map`, JSON.stringify(map));
  }
};
