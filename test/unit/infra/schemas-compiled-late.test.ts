import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

interface Bundle {
  readonly read: (value: unknown) => unknown;
}

const CONTENTS = `
  import * as z from "zod";
  const schema = z.strictObject({ id: z.int(), names: z.array(z.string()).default([]) });
  export const read = (value) => {
    const { data, error } = schema.safeParse(value);
    return data ?? error.issues;
  };
`;
/** Parses before zod compiles a schema. */
const BEFORE = 30;

const load = (file: string) => import(/* @vite-ignore */ pathToFileURL(file).href);

let folder: string;
let bundle: Bundle;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "skyhook-schemas-"));
  const { compileSchemasLate }: { compileSchemasLate: Plugin } = await load(
    resolve("infra/bundling.mjs"),
  );
  await build({
    stdin: { contents: CONTENTS, resolveDir: resolve(".") },
    outfile: join(folder, "schemas.mjs"),
    bundle: true,
    format: "esm",
    plugins: [compileSchemasLate],
  });
  bundle = await load(join(folder, "schemas.mjs"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The texts that are compiled meanwhile. */
const compiledDuring = (work: () => void): readonly string[] => {
  const texts: string[] = [];
  const compile = Function;
  const noting = function compileAndNote(...parts: readonly string[]) {
    texts.push(parts.at(-1) ?? "");
    return compile(...parts);
  };
  vi.stubGlobal("Function", noting);
  try {
    work();
  } finally {
    vi.unstubAllGlobals();
  }
  return texts.filter((text) => text !== "");
};

test("compiles the schema of an object when it has parsed as many as that takes, with the same results", () => {
  const values = [{ id: 1 }, { id: 1, names: ["a"] }, { id: "1" }, { id: 1, other: true }];
  const readAll = () => values.map(bundle.read);
  const before = readAll();

  const early = compiledDuring(() => {
    for (let parses = values.length; parses < BEFORE; parses += 1) bundle.read({ id: parses });
  });
  const late = compiledDuring(() => bundle.read({ id: 0 }));

  expect(early).toEqual([]);
  expect(late).toHaveLength(1);
  expect(readAll()).toEqual(before);
  expect(before.slice(0, 2)).toEqual([
    { id: 1, names: [] },
    { id: 1, names: ["a"] },
  ]);
});
