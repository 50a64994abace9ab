import { createHash, createHmac } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fingerprintOf } from "../../../lib/engine/fingerprint.ts";
import { eventsIn, startSkyhook } from "../../support/skyhook-process.ts";
import { CANARIES, canariesBelow, canariesIn, filesWith } from "./canaries.ts";
import { type CanaryRun, runWithCanaries } from "./canary-run.ts";

const { mainKey, parameterKey, refusedKey } = CANARIES;

let folder: string;
let run: CanaryRun;
let killedRun: CanaryRun;
// Both runs mostly wait, so they run side by side.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "skyhook-canaries-"));
  [run, killedRun] = await Promise.all([
    runWithCanaries(join(folder, "stopped"), "SIGTERM"),
    runWithCanaries(join(folder, "killed"), "SIGKILL"),
  ]);
});
afterAll(() => rm(folder, { recursive: true }));

describe("after a whole run on a provider that reveals everything it knows", () => {
  test("every command reached its expected end", () => {
    expect(run.ends).toMatchObject({
      secrets: "succeeded",
      refuses: "failed",
      errs: "failed",
      fails: "failed",
      second: "failed",
      "dry-run": "succeeded",
      behind: "cancelled",
      guarded: "cancelled",
      "key-refused": "failed",
      "no-such-account": "rejected",
      "wrong-types": "rejected",
      "wrong-value": "rejected",
      "wrong-place": "rejected",
      "wrong-params": "rejected",
      "wrong-deadline": "rejected",
      "wrong-guards": "rejected",
      reaction: "succeeded",
    });
    expect(Object.values(run.ends).filter((end) => end === "succeeded")).toHaveLength(13);
  });

  test("every feature has published", () => {
    const types = new Set(eventsIn(run.events).map((event) => event["detail-type"]));

    expect([...types].sort()).toEqual([
      "AccountKeyRefused",
      "CommandAccepted",
      "CommandCancelled",
      "CommandFailed",
      "CommandRejected",
      "CommandSucceeded",
      "PricesCaptured",
      "TaskFailed",
      "TaskFinished",
      "ThresholdsSynced",
    ]);
  });

  test("each key reached the provider", () => {
    expect(run.keysSeen).toEqual(new Set([mainKey, parameterKey, refusedKey]));
  });

  test("no event, log line or output of the command line has a secret", () => {
    expect(run.printed).toContain("[redacted]");
    expect(canariesIn(run.printed)).toEqual([]);
  });

  test("no answer of the console has a secret", () => {
    const [whileOpen, afterEnd] = run.shown;

    expect(whileOpen).toMatch(/"request":\{[^\n]*"pull_secret":"\[redacted\]"/);
    expect(afterEnd).toContain("TaskFailed");
    expect(afterEnd).toContain("/tasks/main/3f1a5c1e-");
    expect(canariesIn(whileOpen)).toEqual([]);
    expect(canariesIn(afterEnd)).toEqual([]);
  });

  test("the console's token is only in the printed address", async () => {
    const { token, printed, shown, directory } = run;
    const others = printed.split("\n").filter((line) => !line.startsWith("Console: http://127."));

    expect(token.length).toBeGreaterThan(40);
    expect([...others, ...shown].join("\n")).not.toContain(token);
    expect(await filesWith(directory, token)).toEqual([]);
  });

  test("no secret is in any file of the data directory", async () => {
    expect(await canariesBelow(run.directory)).toEqual([]);
  });
});

test("a killed run leaves no key, and the next run erases its requests", async () => {
  const { directory } = killedRun;
  const left = await canariesBelow(directory);

  const next = startSkyhook(["start", "--no-demo", "--data", directory]);
  await next.printed("What can be sent");
  next.child.kill("SIGKILL");
  await next.ended();

  expect(left.filter((line) => !/^\/(messages|ledger)\//.test(line))).toEqual([]);
  expect(left.join()).not.toMatch(/Key/);
  expect(await canariesBelow(directory)).toEqual([]);
});

describe("a secret is found", () => {
  const secret = CANARIES.fixedEnv;

  test.each([
    ["in plain form", secret],
    ["in JSON in JSON", JSON.stringify(JSON.stringify({ a: secret }))],
    ["in a URL", encodeURIComponent(secret)],
    ["in upper case", secret.toUpperCase()],
    ["backwards", [...secret].reverse().join("")],
    ["in hex", Buffer.from(`a${secret}`).toString("hex")],
    ["in base64", Buffer.from(secret).toString("base64")],
    ["in base64 at offset one", Buffer.from(`a${secret}`).toString("base64")],
    ["in base64 at offset two", Buffer.from(`ab${secret}`).toString("base64url")],
  ])("%s", (_, text) => {
    expect(canariesIn(`x${text}x`)).toEqual(["fixedEnv"]);
  });
});

test("a fingerprint does not reveal its content to a reader without the key", () => {
  const request = { body: { envs: { TOKEN: "guess" } } };
  const text = JSON.stringify(request);

  const print = fingerprintOf(request, "the key");

  const guesses = ["", "key", text].map((key) =>
    createHmac("sha256", key).update(text).digest("hex"),
  );
  expect([...guesses, createHash("sha256").update(text).digest("hex")]).not.toContain(print);
  expect(fingerprintOf(request, "another key")).not.toBe(print);
});
