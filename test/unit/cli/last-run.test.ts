import { chmod, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keepRun, lastRun, runAddress } from "../../../lib/cli/endpoint.ts";
import { runSkyhook, startSkyhook } from "../../support/skyhook-process.ts";

const POLICY = ["--project-id", "1234567", "--region-id", "76", "--policy-id", "1"];
const SEND = ["send", "update-policy", ...POLICY, "--status", "paused", "--wait"];
const START = ["start", "--no-demo"];

let home: string;
let environment: Readonly<Record<string, string>>;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "skyhook-state-"));
  // Empty, because the tests' own environment could name another run.
  environment = { XDG_STATE_HOME: home, SKYHOOK_ENDPOINT: "" };
});
afterEach(() => rm(home, { recursive: true }));

const startRun = async (args: readonly string[] = START) => {
  const run = startSkyhook(args, environment);
  await run.printed("End: Ctrl-C");
  const url = /listens at (\S+)/.exec(run.stderr())?.[1] ?? "";
  return { run, url, port: Number(new URL(url).port) };
};

test("commands find the last run without an address, and each run gets its own port", async () => {
  const first = await startRun();
  const second = await startRun();

  const sent = await runSkyhook(SEND, environment);
  const answers = await Promise.all([first, second].map(({ url }) => fetch(`${url}/commands/no`)));
  first.run.child.kill("SIGINT");
  second.run.child.kill("SIGINT");
  await Promise.all([first.run.ended(), second.run.ended()]);

  expect(sent).toMatchObject({ exitCode: 0 });
  expect(second.run.stdout()).toContain("policy 1234567/76/1");
  expect(first.run.stdout()).not.toContain("policy 1234567/76/1");
  expect(answers.map(({ status }) => status)).toEqual([401, 401]);
  expect(first.port).toBeGreaterThanOrEqual(4747);
  expect(second.port).toBeGreaterThanOrEqual(4747);
  expect(second.port).not.toBe(first.port);
});

test("console prints the address of the page that a run has printed", async () => {
  const { run, url } = await startRun();

  const printed = await runSkyhook(["console"], environment);
  const named = await runSkyhook(["console", "--endpoint", url], environment);
  const unknown = await runSkyhook(["console", "--endpoint", "127.0.0.1:9"], environment);
  const mixed = await runSkyhook(["console", "--allow-changes"], environment);
  run.child.kill("SIGINT");
  await run.ended();

  expect(run.stderr()).toContain(`Console: ${printed.stdout}`);
  expect(named.stdout).toBe(printed.stdout);
  expect(unknown).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("no token of a run at http://127.0.0.1:9 is known"),
  });
  expect(mixed).toMatchObject({ exitCode: 2, stderr: "--allow-changes: only with --stage\n" });
});

test("a run without a demo prints one blank line before the next steps", async () => {
  const { run } = await startRun();
  run.child.kill("SIGINT");
  await run.ended();

  expect(run.stderr()).toContain("\n\nSend a command");
  expect(run.stderr()).not.toContain("\n\n\n");
});

test("a clean end removes the kept address, and a killed run is detected", async () => {
  const ended = await startRun();
  ended.run.child.kill("SIGINT");
  await ended.run.ended();
  const afterEnd = await runSkyhook(SEND, environment);

  const killed = await startRun();
  killed.run.child.kill("SIGKILL");
  await killed.run.ended();
  const afterKill = await runSkyhook(["status", "c1"], environment);

  expect(afterEnd).toMatchObject({
    exitCode: 3,
    stderr:
      "no running Skyhook is known; run `npx skyhook start`, or set --endpoint or SKYHOOK_ENDPOINT\n",
  });
  expect(afterKill).toMatchObject({
    exitCode: 3,
    stderr: `the last run, at ${killed.url}, has ended; run \`npx skyhook start\` again, or set --endpoint\n`,
  });
});

test("a run continues if its address cannot be saved, and prints the variable to export", async () => {
  environment = { ...environment, XDG_STATE_HOME: join(process.execPath, "no-folder") };

  const { run, url } = await startRun();
  run.child.kill("SIGINT");
  await run.ended();

  expect(run.stderr()).toContain(
    "cannot save the address of this run, so other commands need --endpoint",
  );
  expect(run.stderr()).toContain(`export SKYHOOK_ENDPOINT=${url}`);
});

test("the file with the address is private, and written atomically", async () => {
  keepRun({ url: "http://127.0.0.1:4747", token: "t1", startedAt: 1 }, environment);

  const folder = join(home, "skyhook", "runs");
  expect(await readdir(folder)).toEqual(["4747.json"]);
  const modes = await Promise.all([folder, join(folder, "4747.json")].map((path) => stat(path)));
  expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(["700", "600"]);
});

test("no command trusts an address in a folder that other users can write to", async () => {
  const run = { url: "http://127.0.0.1:4747", token: "t1", startedAt: 1 };
  keepRun(run, environment);
  const folder = join(home, "skyhook", "runs");

  await chmod(folder, 0o770);

  for (const endpoint of [undefined, run.url]) {
    expect(() => runAddress(endpoint, environment)).toThrow(
      `${folder}: other users can write to it; remove it, or set XDG_STATE_HOME`,
    );
  }
  expect(runAddress(run.url, { ...environment, SKYHOOK_TOKEN: "t2" }).token).toBe("t2");
  keepRun(run, environment);
  expect(runAddress(undefined, environment).token).toBe("t1");
});

test("a run that ends leaves the other runs, and the newest of them is the last run", () => {
  const forget = [1, 2, 3].map((startedAt) =>
    keepRun(
      { url: `http://127.0.0.1:474${startedAt}`, token: `t${startedAt}`, startedAt },
      environment,
    ),
  );
  expect(lastRun(environment)).toMatchObject({ endpoint: "http://127.0.0.1:4743", token: "t3" });

  forget[2]?.();
  expect(lastRun(environment)).toMatchObject({ endpoint: "http://127.0.0.1:4742", token: "t2" });

  forget[0]?.();
  forget[1]?.();
  expect(() => lastRun(environment)).toThrow("no running Skyhook is known");
});

test("a run that ends keeps the file of a later run at the same port", () => {
  const url = "http://127.0.0.1:4747";
  const forgetFirst = keepRun({ url, token: "t1", startedAt: 1 }, environment);
  keepRun({ url, token: "t2", startedAt: 2 }, environment);

  forgetFirst();

  expect(lastRun(environment)).toMatchObject({ token: "t2" });
});

test("an address gets the token of the user's run there, and no other address does", () => {
  keepRun({ url: "http://127.0.0.1:4747", token: "t1", startedAt: 1 }, environment);

  expect(runAddress("127.0.0.1:4747", environment).token).toBe("t1");
  expect(runAddress("http://127.0.0.1:4748", environment).token).toBeUndefined();
  expect(runAddress("https://127.0.0.1:4747", environment).token).toBeUndefined();
  expect(runAddress("127.0.0.1:4748", { ...environment, SKYHOOK_TOKEN: "t9" }).token).toBe("t9");
});
