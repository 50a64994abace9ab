import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { FIXES, type Fix, withoutFix } from "./fixed-bugs.ts";

/** A copy of the repository, because some tests start the built program or package the template. */
const COPY = mkdtempSync(join(tmpdir(), "skyhook-fixes-"));
const RESULT = join(COPY, "result.json");
const BROWSER = "test/browser/";

const resultSchema = z.object({ success: z.boolean(), numTotalTests: z.int() });

const build = (): void => {
  execFileSync(process.execPath, ["infra/build.mjs", "cli"], { cwd: COPY, stdio: "ignore" });
};

/** Runs the test of a fix in the copy. A source that cannot be loaded has no tests. */
const runTest = ({ test: file, name }: Fix): z.output<typeof resultSchema> => {
  const pattern = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const output = ["--reporter=json", `--outputFile=${RESULT}`];
  const config = file.startsWith(BROWSER) ? [`--config=${BROWSER}vitest.config.ts`] : [];
  rmSync(RESULT, { force: true });
  spawnSync("npx", ["vitest", "run", file, "-t", pattern, ...config, ...output], { cwd: COPY });
  return resultSchema.parse(JSON.parse(readFileSync(RESULT, "utf8")));
};

beforeAll(() => {
  const files = execFileSync("git", ["ls-files", "-z"], { encoding: "utf8" });
  for (const file of files.split("\0").filter(Boolean)) cpSync(file, join(COPY, file));
  symlinkSync(resolve("node_modules"), join(COPY, "node_modules"));
  build();
});

afterAll(() => rmSync(COPY, { recursive: true }));

test.each(FIXES)("without its fix a test fails: $entry ($file)", (fix) => {
  const file = join(COPY, fix.file);
  const source = readFileSync(file, "utf8");
  try {
    writeFileSync(file, withoutFix(fix));
    if (fix.built) build();
    const { success, numTotalTests } = runTest(fix);

    expect(numTotalTests).toBeGreaterThan(0);
    expect(success).toBe(false);
  } finally {
    writeFileSync(file, source);
    if (fix.built) build();
  }
});
