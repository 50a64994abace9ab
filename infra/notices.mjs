/**
 * Licence notices of the npm packages that a bundle contains: an esbuild plugin that writes THIRD-PARTY-NOTICES.txt
 * beside each bundle, and fails the build for a package without a licence text or with a licence that is not listed
 * here.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Texts from the repositories of packages that are published without one, by scope or name. */
const OTHER_TEXTS = join(ROOT, "infra", "licences");

/** Licences that ask for no more than their text and notices beside a copy. SPDX identifiers. */
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);
const FILE = "THIRD-PARTY-NOTICES.txt";
const LICENCE_FILE = /^((un)?licen[cs]e|copying)([.-].*)?(?<!\.([cm]?[jt]sx?|json))$/i;
const NOTICE_FILE = /^notices?(\.(txt|md))?$/i;
const HEADING =
  "The code beside this file contains code of these packages, under these licences.\n";
const RULE = "=".repeat(80);

/** Folders of the packages with code in an output of esbuild, such as `node_modules/@scope/name`. */
export const packageFolders = ({ inputs }) => [
  ...new Set(
    Object.entries(inputs)
      .filter(([file, { bytesInOutput }]) => bytesInOutput > 0 && file.includes("node_modules/"))
      .map(([file]) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)[0]),
  ),
];

/** Whether the licence is allowed: an identifier, or a choice `(A OR B)` with an allowed one. */
const isAllowed = (licence) =>
  licence
    .replace(/^\((.*)\)$/, "$1")
    .split(" OR ")
    .some((one) => ALLOWED.has(one));

const readText = (file) => readFileSync(file, "utf8").replaceAll("\r\n", "\n").trim();

const textsIn = (folder, pattern) =>
  readdirSync(folder)
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => readText(join(folder, name)));

/** The licence texts of a package: its own, or the one kept here for it. */
const licenceTexts = (folder, name) => {
  const own = textsIn(folder, LICENCE_FILE);
  const [scopeOrName] = name.split("/");
  const kept = join(OTHER_TEXTS, `${scopeOrName}.txt`);
  return own.length === 0 && existsSync(kept) ? [readText(kept)] : own;
};

/** Name, version, licence and text of a package, and what is wrong with its licence. */
const readPackage = (folder) => {
  const { name, version, license } = JSON.parse(readText(join(folder, "package.json")));
  const id = `${name} ${version}`;
  const licence = typeof license === "string" ? license : "none";
  const licences = licenceTexts(folder, name);
  const problems = [];
  if (!isAllowed(licence)) {
    problems.push(`${id}: its licence (${licence}) is not in ALLOWED of infra/notices.mjs`);
  }
  if (licences.length === 0) {
    problems.push(`${id}: no licence text; add that of its repository to infra/licences`);
  }
  const text = [...licences, ...textsIn(folder, NOTICE_FILE)].join("\n\n");
  return { id, licence, text, problems };
};

/** The text of the notices. Packages with the same text share it, such as those of one scope. */
const format = (packages) => {
  const groups = new Map();
  for (const each of packages.toSorted((one, other) => one.id.localeCompare(other.id, "en"))) {
    // The texts of the AWS packages differ in white space only.
    const key = each.text.replace(/\s+/g, "");
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  const sections = [...groups.values()].map((sharing) =>
    [RULE, ...sharing.map(({ id, licence }) => `${id} (${licence})`), "", sharing[0].text, ""].join(
      "\n",
    ),
  );
  return [HEADING, ...sections].join("\n");
};

/**
 * @param folders of the packages, absolute
 * @returns `text`, and `problems`: one line for each package that may not be bundled
 */
const noticesOf = (folders) => {
  const packages = folders.map(readPackage);
  return { text: format(packages), problems: packages.flatMap(({ problems }) => problems) };
};

/** Adds the folders of packages by the file of their notices. A failed build has no metafile. */
const addPackages = (folders, fileOf, root, metafile) => {
  for (const [bundle, output] of Object.entries(metafile?.outputs ?? {})) {
    const file = fileOf(join(root, bundle));
    const found = packageFolders(output).map((folder) => join(root, folder));
    if (found.length > 0) folders.set(file, new Set([...(folders.get(file) ?? []), ...found]));
  }
};

/**
 * Writes the notices of each bundle that contains packages, and fails the build with each problem. Builds with the same
 * plugin share their notices.
 * @param fileOf path of the notices for the path of a bundle; default: in the bundle's folder
 * @returns {import("esbuild").Plugin}
 */
export const licenceNotices = (fileOf = (bundle) => join(dirname(bundle), FILE)) => {
  const byFile = new Map();
  return {
    name: "licence-notices",
    setup({ initialOptions, onEnd }) {
      initialOptions.metafile = true;
      const { absWorkingDir: root = process.cwd(), write = true } = initialOptions;
      onEnd(({ metafile }) => {
        const problems = new Set();
        addPackages(byFile, fileOf, root, metafile);
        for (const [file, folders] of byFile) {
          const notices = noticesOf([...folders]);
          for (const problem of notices.problems) problems.add(problem);
          if (!write) continue;
          mkdirSync(dirname(file), { recursive: true });
          writeFileSync(file, notices.text);
        }
        return { errors: [...problems].map((text) => ({ text })) };
      });
    },
  };
};
