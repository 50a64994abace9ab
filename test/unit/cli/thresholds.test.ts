import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runVerb } from "../../support/in-process-verb.ts";
import { runSkyhook, type SkyhookProcess, startSkyhook } from "../../support/skyhook-process.ts";

let service: SkyhookProcess;
let environment: Record<string, string>;
let folder: string;

/** Runs the verb, as a program with --detailed-exitcode, which the program's main module handles. */
const thresholds = (...args: readonly string[]) =>
  (args.includes("--detailed-exitcode") ? runSkyhook : runVerb)(
    ["thresholds", ...args],
    environment,
  );

const write = async (name: string, text: string): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "skyhook-thresholds-"));
  service = startSkyhook(["service", "--api-key", "local-key"]);
  await service.printed("skyhook read");
  const baseUrl = /export SKYHOOK_BASE_URL=(\S+)/.exec(service.stderr())?.[1] ?? "none";
  environment = { SKYHOOK_BASE_URL: baseUrl, SKYHOOK_API_KEY: "local-key" };
});

afterAll(async () => {
  service.child.kill("SIGTERM");
  await service.ended();
  await rm(folder, { recursive: true });
});

const BUILT_IN = `prune: false
thresholds:
  - name: reaching_used_space
    storage_name: my-storage-prod
    bucket_name: my-bucket
    bytes: 500
  - name: reaching_files_quantity
    storage_name: my-storage-prod
    bucket_name: my-bucket
    count: 5
`;

// One after the other, because they share one provider.
describe("skyhook thresholds", () => {
  it("pull prints the provider's thresholds as a file with an empty plan", async () => {
    const pulled = await thresholds("pull");
    const path = await write("pulled.yaml", pulled.stdout);
    const planned = await thresholds("plan", path);

    expect(pulled.exitCode).toBe(0);
    expect(pulled.stdout).toBe(
      `# yaml-language-server: $schema=schemas/thresholds.schema.json\n# Notification thresholds at ${environment.SKYHOOK_BASE_URL}\n\n${BUILT_IN}`,
    );
    expect(planned).toEqual({
      exitCode: 0,
      stdout: "0 to create, 0 to update, 0 to delete, 2 unchanged\n",
      stderr: "",
    });
  });

  it("pull writes a new file, and keeps an existing one", async () => {
    const path = join(folder, "new.yaml");

    const first = await thresholds("pull", path);
    const second = await thresholds("pull", path);

    expect(first).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: `written: ${path}
for completion in an editor, in the same folder: npx skyhook schema thresholds > thresholds.schema.json
`,
    });
    expect(await readFile(path, "utf8")).toContain(BUILT_IN);
    expect(second).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: `${path}: exists already; choose another name\n`,
    });
  });

  it("plan shows a diff and changes nothing; apply makes the changes; the next plan is empty", async () => {
    const path = await write(
      "wanted.yaml",
      `prune: true
thresholds:
  - { name: reaching_used_space, storage_name: my-storage-prod, bucket_name: my-bucket, bytes: 1.5 TiB }
  - { name: reaching_used_requests, count: 18446744073709551615 }
`,
    );
    const diff = [
      "~ reaching_used_space       storage my-storage-prod  bucket my-bucket  500 B → 1536 GiB",
      "+ reaching_used_requests    18446744073709551615",
      "- reaching_files_quantity   storage my-storage-prod  bucket my-bucket  5",
    ];

    const planned = await thresholds("plan", path);
    const plannedAgain = await thresholds("plan", path);
    const detailed = await thresholds("plan", path, "--detailed-exitcode");
    const asJson = await thresholds("plan", path, "--json", "--detailed-exitcode");
    const asked = await thresholds("apply", path);
    const stillPlanned = await thresholds("plan", path);
    const applied = await thresholds("apply", path, "--yes");
    const then = await thresholds("plan", path);
    const nothing = await thresholds("plan", path, "--json", "--detailed-exitcode");

    expect(planned.stdout.trimEnd().split("\n")).toEqual([
      ...diff,
      "1 to create, 1 to update, 1 to delete, 0 unchanged",
    ]);
    expect(plannedAgain.stdout).toBe(planned.stdout);
    expect([planned.exitCode, detailed.exitCode, asJson.exitCode]).toEqual([0, 2, 2]);
    expect(detailed.stdout).toBe(planned.stdout);
    expect(JSON.parse(asJson.stdout)).toEqual({
      actualFrom: "list",
      prune: true,
      counts: { create: 1, update: 1, delete: 1, unchanged: 0 },
      changes: [
        {
          action: "update",
          name: "reaching_used_space",
          storage_name: "my-storage-prod",
          bucket_name: "my-bucket",
          before: { bytes: "500" },
          after: { bytes: "1649267441664" },
        },
        {
          action: "create",
          name: "reaching_used_requests",
          after: { count: "18446744073709551615" },
        },
        {
          action: "delete",
          name: "reaching_files_quantity",
          storage_name: "my-storage-prod",
          bucket_name: "my-bucket",
          before: { count: "5" },
        },
      ],
    });
    expect(asked).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: `${planned.stdout}nothing changed: the plan deletes 1 threshold; add --yes to delete without confirmation\n`,
    });
    expect(stillPlanned.stdout).toBe(planned.stdout);
    expect(nothing.exitCode).toBe(0);
    expect(JSON.parse(nothing.stdout)).toMatchObject({ counts: { unchanged: 2 }, changes: [] });
    expect(applied.stdout.trimEnd().split("\n")).toEqual([
      ...diff,
      "1 created, 1 updated, 1 deleted, 0 unchanged, 0 not done",
    ]);
    expect(applied.exitCode).toBe(0);
    expect(then.stdout).toBe("0 to create, 0 to update, 0 to delete, 2 unchanged\n");
  });

  it("names every mistake of a file with its line, and ends with status 2", async () => {
    const path = await write(
      "wrong.yaml",
      "prune: maybe\nthresholds:\n  - name: reaching_used_space\n    count: 5\n",
    );

    const ended = await thresholds("apply", path);

    expect(ended).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: `${path}:1: prune: true or false\n${path}:4: thresholds.0.count: not allowed with reaching_used_space; use bytes\n`,
    });
  });

  it("plan --detailed-exitcode ends with status 1 for every error, a refused file included", async () => {
    const wrong = await write("wrong-plan.yaml", "prune: maybe\nthresholds: []\n");
    const right = await write("right.yaml", "thresholds: []\n");
    const flags = ["--detailed-exitcode", "--json"];

    const ended = [
      await thresholds("plan", wrong, ...flags),
      await thresholds("plan", join(folder, "none.yaml"), ...flags),
      await thresholds("plan", right, ...flags, "--base-url", "http://127.0.0.1:1"),
      await thresholds("plan", right, ...flags, "--base-url", "no-address"),
      await thresholds("plan", right, "--detailed-exitcode", "--no-such-flag"),
    ];

    expect(ended.map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 1, 1]);
    expect(ended.map(({ stdout }) => stdout)).toEqual(["", "", "", "", ""]);
    expect(ended[0]?.stderr).toBe(`${wrong}:1: prune: true or false\n`);
  });

  it("reports a missing file, a wrong key, and an unreachable provider", async () => {
    const path = await write("empty.yaml", "thresholds: []\n");
    const missing = await thresholds("plan", join(folder, "none.yaml"));
    const wrongKey = await runVerb(["thresholds", "pull"], {
      ...environment,
      SKYHOOK_API_KEY: "wrong",
    });
    const nobody = await thresholds("plan", path, "--base-url", "http://127.0.0.1:1");

    expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringMatching("no such file") });
    expect(wrongKey).toMatchObject({ exitCode: 2, stderr: expect.stringMatching("the key") });
    expect(nobody).toMatchObject({ exitCode: 3, stderr: expect.stringMatching("the address") });
  });

  it("sends every threshold without a list, and names the refused change", async () => {
    const path = await write(
      "other.yaml",
      "client_id: 77\nprune: true\nthresholds: [{ name: reaching_used_space, bytes: 4 }]\n",
    );

    const ended = await thresholds("apply", path);

    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).toMatch(/^no list to compare with: .* none is deleted\n$/);
    expect(ended.stdout.trimEnd().split("\n")).toEqual([
      "+ reaching_used_space       4 B",
      "    refused: create-storage-event: 404 not-found: client not found",
      "0 created, 0 updated, 0 deleted, 0 unchanged, 1 not done",
    ]);
  });
});
