import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { runVerb } from "../../support/in-process-verb.ts";
import { runSkyhook } from "../../support/skyhook-process.ts";

const PROGRAM = new URL("../../../dist/skyhook.mjs", import.meta.url);

/** What a file of the built program and its static imports load: packages, and sources of files in the bundle. */
const loadedBy = (file: URL, seen = new Set<string>()): ReadonlySet<string> => {
  if (seen.has(file.href)) return seen;
  seen.add(file.href);
  const map: unknown = JSON.parse(readFileSync(new URL(`${file.href}.map`), "utf8"));
  for (const source of sourcesSchema.parse(map).sources) {
    seen.add(source.replace(/^(?:\.\.\/)+(?:node_modules\/)?/, ""));
  }
  const imports = readFileSync(file, "utf8").matchAll(/(?:\bfrom|\bimport)\s*"([^"]+)"/g);
  for (const [, name = ""] of imports) {
    if (name.startsWith(".")) loadedBy(new URL(name, file), seen);
    else seen.add(name);
  }
  return seen;
};

const ON_DEMAND = /import\("(\.[\w./-]*\/([\w-]+)-\w+\.mjs)"\)/g;

const sourcesSchema = z.object({ sources: z.array(z.string()) });

/** The modules that the built program loads on demand, by name: those of the verbs, and two for its end. */
const verbModules = new Map(
  [...loadedBy(PROGRAM)]
    .filter((each) => each.startsWith("file:"))
    .flatMap((file) =>
      [...readFileSync(new URL(file), "utf8").matchAll(ON_DEMAND)].map(
        ([, path = "", name = ""]) => [name, new URL(path, file)] as const,
      ),
    ),
);

const matching = (loaded: ReadonlySet<string>, pattern: RegExp): readonly string[] =>
  [...loaded].filter((each) => pattern.test(each));

const SLOW = /^(level|hono|@hono|@aws-sdk|memory-level)/;

describe("the command line", () => {
  it("loads no database, server or AWS SDK before a verb runs", () => {
    expect([...verbModules.keys()]).toContain("send");
    for (const [name, module] of new Map([["main", PROGRAM], ...verbModules])) {
      expect({ name, slow: matching(loadedBy(module), SLOW) }).toEqual({ name, slow: [] });
    }
  });

  it("loads no schema and no YAML for the help", () => {
    const loaded = loadedBy(PROGRAM);

    expect(matching(loaded, /^commander\//)).not.toEqual([]);
    expect(matching(loaded, /^(zod|yaml|lossless-json)(\/|$)|^lib\/(contract|engine)\//)).toEqual(
      [],
    );
  });

  it.each([
    ["list", /^lib\/(engine|ledger|jobs|provider|events|console|service)\/|^node:crypto$/],
    ["send", /^lib\/(ledger|jobs|console|service|admin\/answers)|^node:crypto$/],
  ])("loads for %s only what it needs", (name, pattern) => {
    const module = verbModules.get(name);
    if (!module) throw new Error(`no verb ${name}`);

    const loaded = loadedBy(module);
    expect(loaded).toContain(`lib/cli/commands/${name}.ts`);
    expect(matching(loaded, pattern)).toEqual([]);
  });

  it("lists each verb with the arguments that the verb declares", async () => {
    const { stdout } = await runSkyhook(["--help"]);
    const listed = [...stdout.matchAll(/^ {2}([a-z-]+ \[options\] \S+)/gm)].map(([, term]) => term);

    expect(listed).toHaveLength(8);
    for (const term of listed) {
      const [verb = ""] = (term ?? "").split(" ");
      expect((await runVerb([verb, "--help"])).stdout).toContain(`Usage: skyhook ${term}\n`);
    }
  });
});
