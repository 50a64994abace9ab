import { readdir, readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";

/*
 * What actionlint and zizmor do not know: the versions that this repository supports. `npm run lint:workflows`
 * checks the rest.
 */

const FOLDER = new URL("../../../.github/workflows/", import.meta.url);

const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), "utf8");

const ciSchema = z.object({
  jobs: z.object({
    gate: z.object({ strategy: z.object({ matrix: z.object({ node: z.array(z.string()) }) }) }),
  }),
});

describe("the Node versions of CI", () => {
  let versions: readonly string[];
  beforeAll(async () => {
    const { jobs } = ciSchema.parse(parse(await read(".github/workflows/ci.yml")));
    versions = jobs.gate.strategy.matrix.node;
  });

  test("begin with the oldest that package.json supports", async () => {
    const { engines } = z
      .object({ engines: z.object({ node: z.string() }) })
      .parse(JSON.parse(await read("package.json")));
    expect(`>=${versions[0]}`).toBe(engines.node);
  });

  test("include the one of the functions", async () => {
    const { provider } = z
      .object({ provider: z.object({ runtime: z.string() }) })
      .parse(parse(await read("serverless.yml"), { logLevel: "error" }));
    expect(versions.map((version) => `nodejs${version}.x`)).toContain(provider.runtime);
  });
});

test("one commit of each action is pinned, and its release named, in all workflows", async () => {
  const texts = await Promise.all(
    (await readdir(FOLDER)).map((name) => read(`.github/workflows/${name}`)),
  );
  const uses = texts.flatMap((text) => [...text.matchAll(/uses: ([^.\s]\S*) ?(.*)/g)]);
  const pins = new Map<string, Set<string>>();
  for (const [, action = "", release] of uses) {
    expect(`${action} ${release}`).toMatch(/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const [name = ""] = action.split("@");
    pins.set(name, (pins.get(name) ?? new Set()).add(action));
  }

  expect(pins.size).toBeGreaterThan(0);
  expect([...pins.values()].filter((commits) => commits.size > 1)).toEqual([]);
});
