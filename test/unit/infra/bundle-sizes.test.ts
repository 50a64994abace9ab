import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Metafile } from "esbuild";
import { expect, test } from "vitest";

interface Sizes {
  overLimit(
    metafile: Pick<Metafile, "outputs">,
    limits: Readonly<Record<string, number>>,
  ): readonly string[];
}

const { overLimit }: Sizes = await import(
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

test("a bundle within its limit has no problem", () => {
  expect(overLimit(METAFILE, { intake: 5_200 })).toEqual([]);
});

test("a bundle over its limit is reported with the excess and its five largest parts", () => {
  expect(overLimit(METAFILE, { intake: 5_000 })).toEqual([
    "intake: 5 kB, 200 bytes over its limit of 5 kB; largest parts: zod 2 kB, @smithy/core 1 kB, b 1 kB, lib/contract 1 kB, functions/intake 0 kB",
  ]);
});

test("a function without a limit is reported, and a limit without a function", () => {
  expect(overLimit(METAFILE, { other: 5_000 })).toEqual([
    "other: no such function; remove it from SIZE_LIMITS in infra/build.mjs",
    "intake: no size limit; add it to SIZE_LIMITS in infra/build.mjs",
  ]);
});
