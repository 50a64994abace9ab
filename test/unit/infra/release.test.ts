import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";

interface Release {
  releaseNotes(tag: string, manifest: object, changelog: string): string;
  missingToPublish(manifest: object, address: string): string;
}

const { releaseNotes, missingToPublish }: Release = await import(
  /* @vite-ignore */ pathToFileURL(resolve("infra/release.mjs")).href
);

const CHANGELOG = `# Change log

## Unreleased

- not yet

## 1.2.0 - 2026-11-30

### Added
- a verb

## 1.2.0-rc.1

- a candidate

## 1.1.0
`;

describe("the notes of a release", () => {
  test("are the text below its version in the change log", () => {
    expect(releaseNotes("v1.2.0", { version: "1.2.0" }, CHANGELOG)).toBe("### Added\n- a verb");
    expect(releaseNotes("v1.2.0-rc.1", { version: "1.2.0-rc.1" }, CHANGELOG)).toBe("- a candidate");
  });

  test.each([
    ["v1.2.1", "1.2.0", "tag v1.2.1: the version in package.json is 1.2.0"],
    ["1.2.0", "1.2.0", "tag 1.2.0: the version in package.json is 1.2.0"],
    ["v1.3.0", "1.3.0", 'CHANGELOG.md: no text below "## 1.3.0"'],
    ["v1.2", "1.2", 'CHANGELOG.md: no text below "## 1.2"'],
    ["v1.1.0", "1.1.0", 'CHANGELOG.md: no text below "## 1.1.0"'],
  ])("are refused for the tag %s of version %s", (tag, version, message) => {
    expect(() => releaseNotes(tag, { version }, CHANGELOG)).toThrow(message);
  });
});

describe("publishing", () => {
  const ADDRESS = "https://git.example.com/owner/fork";

  test.each([
    { type: "git", url: `git+${ADDRESS}.git` },
    { type: "git", url: ADDRESS },
    `${ADDRESS}.git`,
  ])("lacks nothing with the repository %j", (repository) => {
    expect(missingToPublish({ repository }, ADDRESS)).toBe("");
  });

  test.each([undefined, { type: "git", url: "git+https://git.example.com/owner/original.git" }])(
    "lacks the address of the repository that runs it, with %j",
    (repository) => {
      expect(missingToPublish({ repository }, ADDRESS)).toContain(`git+${ADDRESS}.git`);
    },
  );

  test("lacks a package that is not private", () => {
    expect(missingToPublish({ private: true, repository: ADDRESS }, ADDRESS)).toContain("private");
  });
});
