import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runSkyhook, type SkyhookProcess, startSkyhook } from "../../support/skyhook-process.ts";

let state: string;
let program: SkyhookProcess | undefined;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "skyhook-control-"));
});

afterEach(async () => {
  program?.child.kill("SIGTERM");
  await program?.ended();
  program = undefined;
  rmSync(state, { recursive: true, force: true });
});

const start = async (args: readonly string[], environment: Record<string, string> = {}) => {
  program = startSkyhook(args, { XDG_STATE_HOME: state, ...environment });
  await program.printed("/_skyhook/clock");
  const output = program.stdout() + program.stderr();
  const [url = ""] = /http:\/\/127\.0\.0\.1:\d+(?=\/_skyhook\/clock)/.exec(output) ?? [];
  const status = async (token: string) =>
    (await fetch(`${url}/_skyhook/clock`, { headers: { authorization: `Bearer ${token}` } }))
      .status;
  return { output, status, folder: join(state, "skyhook", "control") };
};

test.each([[["service", "--control"]], [["start", "--no-demo", "--port", "0", "--control"]]])(
  "%j keeps a new token in a private file, prints its path only, and removes it",
  async (args) => {
    const { output, status, folder } = await start(args);
    const [name = ""] = readdirSync(folder);
    const file = join(folder, name);
    const token = readFileSync(file, "utf8");

    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(output).toContain(`$(cat ${file})`);
    expect(output).not.toContain(token);
    expect([await status(token), await status("x".repeat(43))]).toEqual([200, 401]);
    program?.child.kill("SIGTERM");
    await program?.ended();
    expect(existsSync(file)).toBe(false);
  },
);

test("a token of the environment is used, not printed, and written nowhere", async () => {
  const token = "a-token-of-my-own";
  const { output, status, folder } = await start(["service", "--control"], {
    SKYHOOK_CONTROL_TOKEN: token,
  });

  expect(await status(token)).toBe(200);
  expect(output).toContain("Bearer $SKYHOOK_CONTROL_TOKEN");
  expect(output).not.toContain(token);
  expect(existsSync(folder)).toBe(false);
});

test("without --control the paths are unknown, even with a token in the environment", async () => {
  const environment = { XDG_STATE_HOME: state, SKYHOOK_CONTROL_TOKEN: "a-token-of-my-own" };
  program = startSkyhook(["service", "--api-key", "local-key"], environment);
  await program.printed("list-tasks");
  const headers = { authorization: "apikey local-key" };

  const answer = await fetch(`${program.stdout().trim()}/_skyhook/clock`, { headers });

  expect(answer.status).toBe(404);
});

test.each([
  [
    ["service", "--control"],
    { SKYHOOK_CONTROL_TOKEN: "short" },
    "SKYHOOK_CONTROL_TOKEN: 16 to 200",
  ],
  [
    ["start", "--control", "--base-url", "https://api.example.com"],
    { SKYHOOK_API_KEY: "x" },
    "--control: not allowed with --base-url",
  ],
])("%j is refused with %j", async (args, environment, problem) => {
  const { exitCode, stderr } = await runSkyhook(args, { XDG_STATE_HOME: state, ...environment });

  expect(exitCode).toBe(2);
  expect(stderr).toContain(problem);
});
