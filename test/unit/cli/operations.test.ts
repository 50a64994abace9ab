import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { COMMANDED, READS } from "../../../lib/contract/operations.ts";
import { runVerb } from "../../support/in-process-verb.ts";
import { runSkyhook } from "../../support/skyhook-process.ts";

const describedSchema = z.array(
  z.looseObject({
    id: z.string(),
    kind: z.enum(["mutation", "read"]),
    fields: z.array(z.unknown()),
  }),
);

describe("skyhook --version", () => {
  it("prints the version of package.json", async () => {
    const text = await readFile(new URL("../../../package.json", import.meta.url), "utf8");
    const { version } = z.object({ version: z.string() }).parse(JSON.parse(text));

    expect(await runSkyhook(["--version"])).toEqual({
      exitCode: 0,
      stdout: `${version}\n`,
      stderr: "",
    });
  });
});

describe("skyhook operations", () => {
  it.concurrent("lists operations to send and to read under separate headings", async () => {
    const { stdout, exitCode } = await runSkyhook(["operations"]);

    const [sent = "", read = ""] = stdout.split("\n\n");
    const idsIn = (part: string) =>
      part
        .split("\n")
        .slice(1)
        .map((line) => line.trim().split(" ")[0]);
    expect(sent).toMatch(/^Send \(skyhook send OPERATION\):/);
    expect(idsIn(sent)).toEqual(COMMANDED.map(({ id }) => id));
    expect(read).toMatch(/^Read \(skyhook read OPERATION\):/);
    expect(idsIn(read)).toEqual(READS.map(({ id }) => id));
    expect(exitCode).toBe(0);
  });

  it.concurrent("prints with --json each operation with its kind, those to send first", async () => {
    const { stdout } = await runVerb(["operations", "--json"]);

    const described = describedSchema.parse(JSON.parse(stdout));
    expect(described.map(({ id, kind }) => [id, kind])).toEqual(
      [...COMMANDED, ...READS].map(({ id, kind }) => [id, kind]),
    );
    expect(described[0]).toMatchObject({ answers: "tasks", lane: { resource: "container" } });
    expect(described.find(({ id }) => id === "get-network-tag")).toMatchObject({
      reference: "E14",
      method: "GET",
      fields: [
        { name: "project_id" },
        { name: "region_id" },
        { name: "network_id" },
        { name: "key" },
      ],
    });
  });

  it.concurrent("describes follow-task as a poll that waits for no other command", async () => {
    const { stdout } = await runVerb(["operations", "follow-task"]);

    expect(stdout.split("\n").slice(1, 5)).toEqual([
      "GET /v1/tasks/{task_id}",
      "Skyhook only polls the task until it ends.",
      "It waits for no other command, not even for one on the same task.",
      "",
    ]);
  });

  it.concurrent("shows the fields of a read, and its command", async () => {
    const { stdout } = await runVerb(["operations", "get-network-tag"]);

    expect(stdout).toBe(
      [
        "get-network-tag (E14): Read one tag of a network",
        "GET /cloud/v1/networks/{project_id}/{region_id}/{network_id}/metadata_item",
        "Sends one request to the provider and changes nothing.",
        "",
        "  params.project_id  required  whole number",
        "  params.region_id   required  whole number",
        "  params.network_id  required  a UUID",
        "  query.key          required  text, not empty; 1 to 255 characters",
        "",
        "All options: npx skyhook read get-network-tag --help",
        "",
      ].join("\n"),
    );
  });

  it.concurrent("lists all of them for an unknown operation", async () => {
    const { stderr, exitCode } = await runVerb(["operations", "get-netwrok-tag"]);

    expect(stderr).toMatch(/^no operation get-netwrok-tag; the operations are:\nSend/);
    expect(exitCode).toBe(2);
  });
});
