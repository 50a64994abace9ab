import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";

const { ownSourceMaps }: { ownSourceMaps: Plugin } = await import(
  /* @vite-ignore */ pathToFileURL(resolve("infra/own-source-maps.mjs")).href
);

const FIRST = `export const limit = Number(process.argv.length);
`;
// The code of the package is between that of the two own files in the bundle.
const OWN = `import { limit } from "./first.ts";
import { call } from "a-package";
const failing = (): never => {
  throw new Error(String(limit));
};
call(failing);
`;
const PACKAGE = `export const call = (work) => {
  const before = [1, 2, 3].map((n) => n * 2);
  return [before, work()];
};
`;

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "skyhook-maps-"));
  const installed = join(folder, "node_modules", "a-package");
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(folder, "first.ts"), FIRST);
  writeFileSync(join(folder, "own.ts"), OWN);
  writeFileSync(join(installed, "package.json"), '{ "name": "a-package", "main": "index.js" }');
  writeFileSync(join(installed, "index.js"), PACKAGE);
  await build({
    absWorkingDir: folder,
    entryPoints: ["own.ts"],
    outfile: join(folder, "out", "bundle.mjs"),
    bundle: true,
    minify: true,
    format: "esm",
    sourcemap: "linked",
    plugins: [ownSourceMaps],
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a stack trace names lines of own files, and no own file for code of a package", () => {
  const bundle = join(folder, "out", "bundle.mjs");
  const { stderr } = spawnSync(process.execPath, ["--enable-source-maps", bundle], {
    encoding: "utf8",
  });

  const frames = stderr.split("\n").filter((line) => line.trim().startsWith("at "));
  expect(frames[0]).toContain("own.ts:4:");
  expect(frames[1]).toContain("bundle.mjs:");
  expect(frames[2]).toContain("own.ts:6:");
});

test("a map names no package", () => {
  const map = JSON.parse(readFileSync(join(folder, "out", "bundle.mjs.map"), "utf8"));
  expect(map.sources).toEqual(["../first.ts", "../own.ts"]);
  expect(map.names).not.toContain("work");
});
