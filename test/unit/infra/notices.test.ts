import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { expect, onTestFinished, test } from "vitest";

const { licenceNotices }: { licenceNotices(fileOf?: (bundle: string) => string): Plugin } =
  await import(/* @vite-ignore */ pathToFileURL(resolve("infra/notices.mjs")).href);

const LICENCE = "LICENSE";

interface Fake {
  readonly name: string;
  readonly license?: unknown;
  readonly files?: Readonly<Record<string, string>>;
  /** Names of packages that it imports. */
  readonly imports?: readonly string[];
  /** Folder of its node_modules; default: that of the project. */
  readonly below?: string;
}

/** A project that imports the first package, with the given packages installed. */
const projectWith = async (...packages: readonly Fake[]): Promise<string> => {
  const root = await mkdtemp(join(tmpdir(), "skyhook-notices-"));
  onTestFinished(() => rm(root, { recursive: true }));
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  for (const { name, license = "MIT", files = { [LICENCE]: `of ${name}` }, ...rest } of packages) {
    const folder = join(rest.below ?? "", "node_modules", name);
    const manifest = { name, version: "1.2.3", license, type: "module", main: "index.js" };
    await write(join(folder, "package.json"), JSON.stringify(manifest));
    const imports = (rest.imports ?? []).map((other) => `import ${JSON.stringify(other)};`);
    await write(join(folder, "index.js"), `${imports.join("\n")}\nconsole.log("${name}");`);
    for (const [file, text] of Object.entries(files)) await write(join(folder, file), text);
  }
  await write("a/index.js", `import ${JSON.stringify(packages[0]?.name)};`);
  return root;
};

/** Builds the project. @returns the notices. @throws BuildFailure */
const noticesOf = async (root: string): Promise<string> => {
  await build({
    absWorkingDir: root,
    entryPoints: ["a/index.js"],
    outdir: join(root, "dist"),
    outbase: ".",
    bundle: true,
    format: "esm",
    logLevel: "silent",
    plugins: [licenceNotices()],
  });
  return readFile(join(root, "dist/a/THIRD-PARTY-NOTICES.txt"), "utf8");
};

const named = (notices: string) => [...notices.matchAll(/^(\S+) 1\.2\.3 \((.*)\)$/gm)].map(String);

test("the notices name each package with code in the bundle, and no other", async () => {
  const root = await projectWith(
    { name: "direct", imports: ["@scope/indirect", "nested"] },
    { name: "@scope/indirect", license: "Apache-2.0" },
    { name: "nested", license: "ISC", below: "node_modules/direct" },
    { name: "installed-only" },
  );

  const notices = await noticesOf(root);

  expect(named(notices)).toEqual([
    expect.stringContaining("@scope/indirect 1.2.3 (Apache-2.0)"),
    expect.stringContaining("direct 1.2.3 (MIT)"),
    expect.stringContaining("nested 1.2.3 (ISC)"),
  ]);
  for (const text of ["of @scope/indirect", "of direct", "of nested"]) {
    expect(notices).toContain(text);
  }
});

test("the notices contain the text of every licence and notice file, in the spelling of the package", async () => {
  const files = {
    "LICENSE-MIT": "text of the licence",
    "NOTICE.txt": "text of the notice",
    "license.js": "no text",
    "README.md": "no text",
  };

  const notices = await noticesOf(
    await projectWith({ name: "direct", license: "(MIT OR GPL-3.0)", files }),
  );

  expect(notices).toContain("text of the licence\n\ntext of the notice");
});

test("packages with the same text share it", async () => {
  const files = { [LICENCE]: "the one text" };
  const root = await projectWith(
    { name: "direct", files, imports: ["other"] },
    { name: "other", files: { [LICENCE]: "the  one\r\ntext\n" } },
  );

  const notices = await noticesOf(root);

  expect(notices).toContain("direct 1.2.3 (MIT)\nother 1.2.3 (MIT)\n\nthe one text");
});

test.each<[string, Partial<Fake>, string]>([
  ["no licence text", { files: {} }, "no licence text"],
  [
    "an unlisted licence",
    { license: "GPL-3.0-only" },
    "its licence (GPL-3.0-only) is not in ALLOWED",
  ],
  ["two licences of which one is unlisted", { license: "(MIT AND GPL-3.0)" }, "is not in ALLOWED"],
  ["no licence in package.json", { license: null }, "its licence (none) is not in ALLOWED"],
])("a bundled package with %s fails the build with its name", async (_, fault, message) => {
  const root = await projectWith(
    { name: "direct", imports: ["@scope/faulty"] },
    { name: "@scope/faulty", ...fault },
  );

  await expect(noticesOf(root)).rejects.toThrow(
    expect.objectContaining({ message: expect.stringContaining(`@scope/faulty 1.2.3: `) }),
  );
  await expect(noticesOf(root)).rejects.toThrow(message);
});
