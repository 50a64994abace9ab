import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDataDirectory, withDataError } from "../../../lib/local/data-directory.ts";
import { openLevelStore } from "../../../lib/local/durable-store.ts";
import { StoredStateError } from "../../../lib/service/stored-state.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";

let parent: string;
let directory: string;

const open = (seed = 1) => openDataDirectory(directory, createSeededRandom(seed));

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "skyhook-data-"));
  directory = join(parent, "deep", "state");
});

afterEach(() => rm(parent, { recursive: true }));

describe("a data directory", () => {
  it("is created when it is missing, readable by its owner only", async () => {
    const data = await open();

    expect(data).toEqual({
      service: join(directory, "service"),
      ledger: join(directory, "ledger"),
      messages: join(directory, "messages"),
      fingerprintKey: expect.stringMatching(/^[0-9a-f-]{72}$/),
      raiseFormat: expect.any(Function),
    });
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, "skyhook.json"))).mode & 0o777).toBe(0o600);
  });

  it("keeps its fingerprint key between runs", async () => {
    const first = await open(1);

    expect((await open(2)).fingerprintKey).toBe(first.fingerprintKey);
  });

  it("opens after a kill in the middle of its creation", async () => {
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "skyhook.json.new"), '{"form');

    await open();

    expect(await readdir(directory)).toEqual(["skyhook.json"]);
  });

  it("becomes private to its owner, with everything in it", async () => {
    await open();
    await mkdir(join(directory, "ledger", "items"), { recursive: true });
    await writeFile(join(directory, "ledger", "items", "5.log"), "hush");
    await symlink(join(parent, "elsewhere"), join(directory, "ledger", "link"));
    await writeFile(join(parent, "elsewhere"), "another's");
    await chmod(join(parent, "elsewhere"), 0o644);
    await chmod(join(directory, "ledger", "items", "5.log"), 0o644);
    for (const folder of ["ledger/items", "ledger", ""]) {
      await chmod(join(directory, folder), 0o755);
    }

    await open();

    const modeOf = async (path: string) => (await stat(join(directory, path))).mode & 0o777;
    expect(await Promise.all(["", "ledger", "ledger/items"].map(modeOf))).toEqual([
      0o700, 0o700, 0o700,
    ]);
    expect(await Promise.all(["skyhook.json", "ledger/items/5.log"].map(modeOf))).toEqual([
      0o600, 0o600,
    ]);
    expect((await stat(join(parent, "elsewhere"))).mode & 0o777).toBe(0o644);
  });

  it("keeps the mode of a folder without Skyhook data", async () => {
    await mkdir(directory, { recursive: true });
    await chmod(directory, 0o755);
    await writeFile(join(directory, "thesis.txt"), "years of work");

    await expect(open()).rejects.toThrow("without Skyhook data");

    expect((await stat(directory)).mode & 0o777).toBe(0o755);
  });

  it("is refused if its modes cannot be changed", async () => {
    await open();
    const refusal = Object.assign(new Error("not permitted"), { code: "EPERM", syscall: "chmod" });

    await expect(withDataError(directory, () => Promise.reject(refusal))).rejects.toThrow(
      `data directory ${directory}: readable by other users, and this user cannot change that; use another folder`,
    );
  });

  it("refuses a folder with other files, and does not change it", async () => {
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "thesis.txt"), "years of work");

    await expect(open()).rejects.toThrow(
      `data directory ${directory}: not empty, and without Skyhook data; use an empty folder`,
    );

    expect(await readdir(directory)).toEqual(["thesis.txt"]);
  });

  it.each([
    [
      '{"format":1,"key":"x"}',
      "has format 1, but this version of Skyhook reads only formats 3 and 4",
    ],
    [
      '{"format":3}',
      "damaged: skyhook.json is not readable; restore the folder from a backup, or use another folder",
    ],
    [
      '{"for',
      "damaged: skyhook.json is not readable; restore the folder from a backup, or use another folder",
    ],
  ])("is refused with another format or a damaged mark: %s", async (mark, why) => {
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "skyhook.json"), mark);

    await expect(open()).rejects.toThrow(`data directory ${directory}: ${why}`);
  });

  it("does not quote the key of a damaged mark", async () => {
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "skyhook.json"), "hush");

    const error = await open().catch((thrown: unknown) => thrown);

    expect(inspect(error)).toContain(
      "damaged: skyhook.json is not readable; restore the folder from a backup, or use another folder",
    );
    expect(inspect(error)).not.toContain("hush");
  });

  it("is refused when it is a file, or inside a file", async () => {
    const file = join(parent, "file");
    await writeFile(file, "");
    const random = createSeededRandom();

    for (const path of [file, join(file, "state")]) {
      await expect(openDataDirectory(path, random)).rejects.toThrow(
        `data directory ${path}: not a folder`,
      );
    }
  });
});

describe("an error of LevelDB in a data directory", () => {
  it("is reported as a second run", async () => {
    const { messages } = await open();
    const first = await openLevelStore({ directory: messages, failing: new AbortController() });

    await expect(
      withDataError(directory, () =>
        openLevelStore({ directory: messages, failing: new AbortController() }),
      ),
    ).rejects.toThrow(
      `data directory ${directory}: in use by another run; stop that run, or use another folder`,
    );

    await first.close();
  });

  it("is reported as damage", async () => {
    const { messages } = await open();
    await (await openLevelStore({ directory: messages, failing: new AbortController() })).close();
    await writeFile(join(messages, "CURRENT"), "junk");

    await expect(
      withDataError(directory, () =>
        openLevelStore({ directory: messages, failing: new AbortController() }),
      ),
    ).rejects.toThrow(
      `data directory ${directory}: damaged: Corruption: CURRENT file does not end with newline; restore the folder from a backup, or use another folder`,
    );
  });

  it("is reported as damage, too, when the stored service state is invalid", async () => {
    const failure = new StoredStateError([{ path: "routers.0.id", rule: "required" }]);

    await expect(withDataError(directory, () => Promise.reject(failure))).rejects.toThrow(
      `data directory ${directory}: damaged: stored state is invalid: routers.0.id: required; restore the folder from a backup, or use another folder`,
    );
  });

  const notOpen = (message: string): Error =>
    Object.assign(
      new Error("Database failed to open", {
        cause: Object.assign(new Error(message), { code: "LEVEL_IO_ERROR" }),
      }),
      { code: "LEVEL_DATABASE_NOT_OPEN" },
    );
  const failedWrite = (message: string): Error =>
    Object.assign(new Error(message), { code: "LEVEL_IO_ERROR" });

  it.each([
    ["a folder of another user", notOpen("IO error: /data/messages/LOCK: Permission denied")],
    ["a read-only disk", notOpen("IO error: /data/messages/LOCK: Read-only file system")],
    ["a file of another user", failedWrite("IO error: /data/messages/5.log: Permission denied")],
  ])("is reported as not writable: %s", async (_what, failure) => {
    await expect(withDataError(directory, () => Promise.reject(failure))).rejects.toThrow(
      new RegExp(
        `^data directory ${directory}: not writable; change its permissions, or use another folder$`,
      ),
    );
  });

  it.each([
    ["a full disk", failedWrite("IO error: /data/messages/5.log: No space left on device")],
    ["a full disk at the start", notOpen("IO error: /data/items/5.log: No space left on device")],
    ["a quota", failedWrite("IO error: /data/messages/5.log: Disk quota exceeded")],
    ["a file size limit", failedWrite("IO error: /data/messages/5.log: File too large")],
    ["a full disk outside of LevelDB", Object.assign(new Error("no"), { code: "ENOSPC" })],
  ])("is reported as a full disk: %s", async (_what, failure) => {
    await expect(withDataError(directory, () => Promise.reject(failure))).rejects.toThrow(
      `data directory ${directory}: no space left on the disk; free some space and start again`,
    );
  });

  it("is reported as damage for any other disk error", async () => {
    const failure = failedWrite("IO error: /data/messages/5.log: Input/output error");

    await expect(withDataError(directory, () => Promise.reject(failure))).rejects.toThrow(
      `data directory ${directory}: damaged: IO error: /data/messages/5.log: Input/output error; restore the folder from a backup, or use another folder`,
    );
  });

  it("keeps the error of a port", async () => {
    const failure = Object.assign(new Error("listen"), { code: "EACCES", port: 80 });

    await expect(withDataError(directory, () => Promise.reject(failure))).rejects.toBe(failure);
  });

  it("keeps every other error", async () => {
    const failure = new Error("something else");

    await expect(withDataError(directory, () => Promise.reject(failure))).rejects.toBe(failure);
  });
});
