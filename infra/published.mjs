/**
 * Builds what the npm package contains: the command line and the public entries with their declarations. Databases
 * stay imports; everything else is bundled, such as the AWS clients, of which few users need any.
 */
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { BASE } from "./bundling.mjs";
import { withFewChunks } from "./chunks.mjs";
import { COMMAND_LINE } from "./command-line.mjs";
import { buildDeclarations } from "./declarations.mjs";
import { licenceNotices } from "./notices.mjs";

const ROOT = BASE.absWorkingDir;
const DIST = join(ROOT, "dist");
/** Chunks of the package, apart from those of `npm start`, so that no chunk of an earlier build is packed. */
const CHUNKS = "chunks";

/** @type {import("esbuild").BuildOptions} */
const PUBLISHED = {
  ...COMMAND_LINE,
  outdir: DIST,
  chunkNames: `${CHUNKS}/[name]-[hash]`,
  // ES modules first: the CommonJS build of the AWS SDK cannot be tree-shaken.
  mainFields: ["module", "main"],
  // Maps would need the sources of everything, and would double the size of the package.
  sourcemap: false,
  metafile: true,
  plugins: [...COMMAND_LINE.plugins, licenceNotices(() => join(DIST, "THIRD-PARTY-NOTICES.txt"))],
};

/** `dist/exports/NAME.mjs` for each file of lib/exports. */
const entries = () =>
  Object.fromEntries(
    readdirSync(join(ROOT, "lib", "exports"))
      .filter((file) => file.endsWith(".ts"))
      .map((file) => [`exports/${file.replace(/\.ts$/, "")}`, `lib/exports/${file}`]),
  );

/**
 * Bundles the public entries, and the command line. They share no chunks, because a module that one of five entries
 * needs is a chunk of its own: then a call of the command line reads four times as many files.
 * @param write false to get the outputs only
 * @returns the outputs in esbuild's metafiles
 */
export const bundlePublished = async (write = true) => {
  const library = { ...PUBLISHED, entryPoints: entries() };
  const program = await withFewChunks({
    ...PUBLISHED,
    entryPoints: { skyhook: "lib/cli/main.ts" },
  });
  const built = [];
  for (const options of [library, program]) built.push(await build({ ...options, write }));
  return { outputs: Object.assign({}, ...built.map(({ metafile }) => metafile.outputs)) };
};

/** Writes the bundles and the declarations, after removing those of an earlier build. */
export const buildPublished = async () => {
  for (const folder of [CHUNKS, "exports"]) {
    rmSync(join(DIST, folder), { recursive: true, force: true });
  }
  buildDeclarations(ROOT);
  await bundlePublished();
  const program = join(DIST, "skyhook.mjs");
  writeFileSync(program, `#!/usr/bin/env node\n${readFileSync(program, "utf8")}`);
  chmodSync(program, 0o755);
};
