import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { marked } from "marked";
import { describe, expect, inject, it } from "vitest";

const { folder } = inject("packed");

const PAGE = "docs/package.md";

/** The examples of the page: a block of TypeScript names its file. */
const examples = (): ReadonlyMap<string, string> =>
  new Map(
    marked.lexer(readFileSync(PAGE, "utf8")).flatMap((token) => {
      if (token.type !== "code") return [];
      const [language, file = ""] = (token.lang ?? "").split(" ");
      return language === "ts" ? [[file, token.text]] : [];
    }),
  );

const exportsOf = (): readonly string[] => {
  const { exports } = JSON.parse(
    readFileSync(join(folder, "node_modules", "skyhook", "package.json"), "utf8"),
  );
  return Object.keys(exports)
    .filter((name) => name !== "./package.json")
    .map((name) => name.replace(".", "skyhook"));
};

/** A project of a consumer, with the examples of the page and one import of each export. */
const writeProject = (name: string, compilerOptions: object): string => {
  const project = join(folder, name);
  mkdirSync(project, { recursive: true });
  for (const [file, text] of examples()) writeFileSync(join(project, file), text);
  const imports = exportsOf().map((path, index) => `import * as e${index} from "${path}";`);
  const used = imports.map((_, index) => `e${index}`);
  writeFileSync(
    join(project, "everything.ts"),
    `${imports.join("\n")}\nexport const everything = [${used.join(", ")}];\n`,
  );
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        ...{ target: "es2023", strict: true, skipLibCheck: false, outDir: "out", rootDir: "." },
        ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
        ...compilerOptions,
      },
    }),
  );
  return project;
};

const compile = (project: string): string =>
  spawnSync(process.execPath, [resolve("node_modules/typescript/bin/tsc"), "--project", project], {
    cwd: folder,
    encoding: "utf8",
  }).stdout;

const NODENEXT = { module: "nodenext" };
const BUNDLER = { module: "preserve", moduleResolution: "bundler" };

describe("the types of the package", () => {
  it.each([
    ["nodenext", NODENEXT],
    ["bundler", BUNDLER],
  ])("compile strictly under %s, without types of Node", (name, options) => {
    const project = writeProject(`without-${name}`, { ...options, types: [] });
    // The test of the page runs on Node, so only it needs types of Node.
    expect(
      compile(project)
        .split("\n")
        .filter((line) => !line.includes("local.test.ts") || !line.includes("node:")),
    ).toEqual([""]);
  });

  it.each([
    ["nodenext", NODENEXT],
    ["bundler", BUNDLER],
  ])("compile strictly under %s with types of Node and without the DOM", (name, options) => {
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--no-save", "@types/node@20"], {
      cwd: folder,
      stdio: "ignore",
    });
    const project = writeProject(`with-${name}`, { ...options, lib: ["es2023"], types: ["node"] });
    expect(compile(project)).toBe("");
  });
});
