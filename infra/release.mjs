/**
 * Checks a release before it is packed: that the tag is the version of package.json, and that CHANGELOG.md describes
 * it. Writes the notes of the release, and says what publishing to npm lacks.
 *
 * Usage: `node infra/release.mjs v1.2.3 NOTES.md`, in `.github/workflows/release.yml`.
 */
import { appendFileSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** The lines of CHANGELOG.md below the heading `## VERSION`, up to the next such heading. Empty if there are none. */
const notesOf = (changelog, version) => {
  const [, ...sections] = `\n${changelog}`.split("\n## ");
  const section = sections.find((text) => text.split(/\s/, 1)[0] === version);
  return section?.slice(section.indexOf("\n")).trim() ?? "";
};

/**
 * @param tag such as `v1.2.3`
 * @param changelog text of CHANGELOG.md
 * @returns the notes of the release
 * @throws Error if the tag is not the package's version, or the change log has no text for it
 */
export const releaseNotes = (tag, { version }, changelog) => {
  if (tag !== `v${version}`) {
    throw new Error(
      `tag ${tag}: the version in package.json is ${version}; set it with \`npm version\`, or tag v${version}`,
    );
  }
  const notes = notesOf(changelog, version);
  if (notes === "") {
    throw new Error(
      `CHANGELOG.md: no text below "## ${version}"; rename "## Unreleased", and add a new one`,
    );
  }
  return notes;
};

/** The address of a repository without the parts that package.json may add: `git+`, `.git`. */
const plainAddress = (url) => url.replace(/^git\+/, "").replace(/\.git$/, "");

/**
 * What package.json lacks before npm accepts the package with its provenance; empty if nothing.
 * @param address of the repository that runs the workflow
 */
export const missingToPublish = ({ private: isPrivate, repository }, address) => {
  if (isPrivate) return 'package.json has "private": true';
  const url = typeof repository === "string" ? repository : repository?.url;
  return url !== undefined && plainAddress(url) === plainAddress(address)
    ? ""
    : `package.json needs "repository": {"type": "git", "url": "git+${address}.git"}: npm compares it with the provenance`;
};

if (realpathSync(process.argv[1] ?? ".") === fileURLToPath(import.meta.url)) {
  const [tag, notesFile] = process.argv.slice(2);
  if (notesFile === undefined) throw new Error("usage: node infra/release.mjs TAG NOTES_FILE");
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_OUTPUT } = process.env;
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  try {
    const notes = releaseNotes(tag, manifest, readFileSync("CHANGELOG.md", "utf8"));
    mkdirSync(dirname(notesFile), { recursive: true });
    writeFileSync(notesFile, `${notes}\n`);
    const missing = missingToPublish(manifest, `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`);
    if (GITHUB_OUTPUT) appendFileSync(GITHUB_OUTPUT, `missing=${missing}\n`);
    process.stdout.write(`${tag}: ${missing === "" ? "ready to publish" : missing}\n`);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
