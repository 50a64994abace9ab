/**
 * `npm run check:words`: refuses words that CONTRIBUTING.md replaces, in documentation, comments and texts of
 * the program, and measures the density of wordy phrases in README.md, CONTRIBUTING.md and docs.
 *
 * Words in inline code are exempt, so that a page can name them. A string without a space counts as a name, not
 * as text. With paths as arguments, the program reads only those and measures nothing.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import jsTokens from "js-tokens";

/** The left column of CONTRIBUTING.md's table, where a word has no other use in this repository. */
const REFUSED = [
  "whoever",
  "whomever",
  "nobody",
  "nobody's",
  "somebody",
  "somebody's",
  "told",
  "tells",
  "telling",
  "standing jobs?",
  "doorbell",
  "request budget",
  "budget notes?",
  "held keys?",
  "lost probe",
  "rules between",
  "stands? twice",
  "gone on with",
  "goes on with",
  "looked at again",
  "put away",
  "deeds?",
  "weather",
  "fates?",
];

/** Phrases that make a sentence without a noun. Some uses are right, so their density has a limit. */
const WORDY = [
  "whoever",
  "nobody",
  "somebody",
  "whose",
  "whom",
  "what is",
  "that is",
  "told",
  "tells",
];
const MOST_WORDY_PER_100_WORDS = 0.1;

/** Pattern of the phrases, also across the end of a line. */
const anyOf = (phrases) =>
  new RegExp(`(?<![\\w-])(?:${phrases.join("|").replaceAll(" ", "\\s+")})(?![\\w-])`, "gi");

/** Replaces everything that matches by spaces, so that positions stay the same. */
const blank = (text, pattern) => text.replace(pattern, (part) => part.replace(/[^\n]/g, " "));

const withoutCode = (text) => blank(blank(text, /^( *)(```+)[\s\S]*?^\1\2/gm), /`[^`\n]+`/g);

const COMMENTS = new Set(["SingleLineComment", "MultiLineComment"]);
const TEXTS = new Set([
  ...["StringLiteral", "NoSubstitutionTemplate"],
  ...["TemplateHead", "TemplateMiddle", "TemplateTail"],
]);

/** The comments and texts of a program at their positions, spaces elsewhere. */
const proseOfScript = (source) => {
  let prose = "";
  for (const { type, value } of jsTokens(source)) {
    if (COMMENTS.has(type)) {
      // Comment markers at the start of a line would separate two words of one phrase.
      prose += blank(withoutCode(value), /(?<=^\s*)[/*]+/gm);
    } else if (TEXTS.has(type) && (type !== "StringLiteral" || value.includes(" "))) {
      prose += blank(value, /\\?`[^`\n]+\\?`/g);
    } else {
      prose += blank(value, /[^\n]+/g);
    }
  }
  return prose;
};

/** The comments and texts of YAML and shell files; their keys are names. */
const proseOfConfig = (source) => blank(withoutCode(source), /^\s*[\w-]+:(?= |$)/gm);

const proseOf = (file) => {
  const source = readFileSync(file, "utf8");
  if (/\.md$/.test(file)) return withoutCode(source);
  return /\.[cm]?[jt]s$/.test(file) ? proseOfScript(source) : proseOfConfig(source);
};

const tracked = execFileSync("git", ["ls-files", "--", ...process.argv.slice(2)], {
  encoding: "utf8",
}).split("\n");
const THIS = "infra/words.mjs";
// The changelog keeps the names that each release had.
const files = tracked.filter(
  (file) =>
    (/\.(md|[cm]?[jt]s|ya?ml)$/.test(file) || file === ".ci/run") &&
    file !== "CHANGELOG.md" &&
    file !== THIS,
);

let failed = false;
const fail = (message) => {
  process.stderr.write(`${message}\n`);
  failed = true;
};

const refused = anyOf(REFUSED);
for (const file of files) {
  const prose = proseOf(file);
  for (const match of prose.matchAll(refused)) {
    const line = prose.slice(0, match.index).split("\n").length;
    const word = match[0].replace(/\s+/g, " ");
    fail(
      `${file}:${line}: "${word}" is refused; CONTRIBUTING.md, "Language", names the word to use`,
    );
  }
}

if (process.argv.length === 2) {
  const prose = files.filter((file) => file.endsWith(".md")).map(proseOf);
  const count = (pattern) => prose.flatMap((text) => text.match(pattern) ?? []).length;
  const [words, wordy] = [count(/[A-Za-z][\w'’-]*/g), count(anyOf(WORDY))];
  const density = (100 * wordy) / words;
  const measured = `${wordy} wordy phrases in ${words} words of README.md, CONTRIBUTING.md and docs: ${density.toFixed(2)} per 100`;
  process.stdout.write(`${measured}\n`);
  if (density > MOST_WORDY_PER_100_WORDS)
    fail(
      `at most ${MOST_WORDY_PER_100_WORDS} per 100 words are allowed; reword: ${WORDY.join(", ")}`,
    );
}
process.exitCode = failed ? 1 : 0;
