import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { marked } from "marked";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const PAGES = ["README.md", "docs/getting-started.md"];

/** A fenced block; `marker` is the rest of its info string after the language. */
interface Block {
  readonly text: string;
  readonly marker: string;
}

interface Page {
  readonly name: string;
  readonly scripts: readonly Block[];
  /** Files that the page asks its reader to save: the third word of their info string names them. */
  readonly files: ReadonlyMap<string, string>;
}

const readPage = (name: string): Page => {
  const scripts: Block[] = [];
  const files = new Map<string, string>();
  for (const token of marked.lexer(readFileSync(name, "utf8"))) {
    if (token.type !== "code") continue;
    const [language, kind = "", file] = (token.lang ?? "").split(" ");
    if (language === "sh") scripts.push({ text: token.text, marker: token.lang.slice(2).trim() });
    else if (kind !== "" && file !== undefined) files.set(file, token.text);
  }
  return { name, scripts, files };
};

const isRun = ({ marker }: Block): boolean => !/^(aws|not-run)$/.test(marker);

describe.each(PAGES.map(readPage))("$name in a fresh clone", ({ scripts, files }) => {
  let folder = "";
  const left: ChildProcess[] = [];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "skyhook-docs-"));
    execFileSync("git", ["clone", "-q", "--local", process.cwd(), join(folder, "clone")]);
    for (const [file, text] of files) writeFileSync(join(folder, "clone", file), text);
  });

  afterAll(async () => {
    for (const { pid } of left) if (pid !== undefined) process.kill(-pid, "SIGINT");
    await Promise.all(left.map((child) => child.exitCode ?? once(child, "close")));
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts a block in the environment that the blocks before it have left. */
  const start = (text: string) => {
    const environment = join(folder, "environment");
    writeFileSync(environment, "", { flag: "a" });
    const script = `set -eo pipefail\n. "${environment}"\n${text}\nexport -p >"${environment}"`;
    const { PATH = "", HOME = "" } = process.env;
    const child = spawn("bash", ["-c", script], {
      cwd: join(folder, "clone"),
      // A group of its own, so that it ends with everything that it has started.
      detached: true,
      env: { PATH, HOME, XDG_STATE_HOME: join(folder, "state"), NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk) => {
        output += chunk;
      });
    }
    return { child, output: () => output };
  };

  it.each(scripts.filter(isRun))("runs: $text", async ({ text, marker }) => {
    const until = /^until: (.+)$/.exec(marker)?.[1];
    expect(until ?? marker).toBe(until ?? "");
    const { child, output } = start(text);
    const ended = once(child, "close").then(([status]) => status);
    if (until === undefined) {
      expect(await ended, output()).toBe(0);
      return;
    }
    left.push(child);
    const printed = expect.poll(output, { timeout: 240_000, interval: 200 }).toContain(until);
    const early = ended.then((status) => expect.fail(`ended with ${status}: ${output()}`));
    await Promise.race([printed, early]);
  });
});
