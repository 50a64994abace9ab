import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Metafile } from "esbuild";
import { expect, test } from "vitest";

interface Sizes {
  overBudget(
    metafile: Pick<Metafile, "outputs">,
    budgets: Readonly<Record<string, number>>,
  ): readonly string[];
}

const { overBudget }: Sizes = await import(
  /* @vite-ignore */ pathToFileURL(resolve("infra/bundle-sizes.mjs")).href
);

const output = (bytes: number, inputs: Readonly<Record<string, number>>) => ({
  bytes,
  inputs: Object.fromEntries(
    Object.entries(inputs).map(([file, bytesInOutput]) => [file, { bytesInOutput }]),
  ),
  imports: [],
  exports: [],
});

const METAFILE = {
  outputs: {
    "dist/functions/intake/handler.mjs.map": output(9_000, {}),
    "dist/functions/intake/handler.mjs": output(5_200, {
      "node_modules/zod/v4/core.js": 900,
      "../node_modules/zod/v4/locales/en.js": 1_100,
      "node_modules/@smithy/core/a.js": 1_000,
      "node_modules/a/node_modules/b/index.js": 800,
      "lib/contract/a.ts": 300,
      "lib/contract/b.ts": 400,
      "functions/intake/handler.ts": 100,
      "node_modules/small/index.js": 50,
    }),
  },
};

test("a bundle within its budget is not complained about", () => {
  expect(overBudget(METAFILE, { intake: 5_200 })).toEqual([]);
});

test("a bundle over its budget is reported with the excess and its five biggest parts", () => {
  expect(overBudget(METAFILE, { intake: 5_000 })).toEqual([
    "intake: 5 kB, 200 bytes over its budget of 5 kB; the most of it is zod 2 kB, @smithy/core 1 kB, b 1 kB, lib/contract 1 kB, functions/intake 0 kB",
  ]);
});

test("a function without a budget is complained about, and a budget without a function", () => {
  expect(overBudget(METAFILE, { other: 5_000 })).toEqual([
    "other: there is a budget for it, and no such function",
    "intake: it has no budget",
  ]);
});
