import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { flagsOf, requestData } from "../../../lib/cli/field-flags.ts";
import { updateContainer } from "../../../lib/contract/containers.ts";
import { resumeInstance } from "../../../lib/contract/instances.ts";
import { removePolicyVolumes, updatePolicy } from "../../../lib/contract/lifecycle-policies.ts";
import type { Mutation } from "../../../lib/contract/operation.ts";
import { updateStorageEvent } from "../../../lib/contract/storage-events.ts";

const directory = mkdtempSync(join(tmpdir(), "skyhook-input-"));
afterAll(() => rmSync(directory, { recursive: true }));

const fileOf = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return `@${path}`;
};

const flagsFor = (operation: Mutation, given: Readonly<Record<string, string>>) =>
  new Map(
    flagsOf(operation).flatMap((field) => {
      const text = given[field.flag];
      return text === undefined ? [] : [[field, text] as const];
    }),
  );

/** The request of flags as they are typed. */
const ofFlags = (operation: Mutation, given: Readonly<Record<string, string>>) =>
  requestData(operation, { flags: flagsFor(operation, given) });

describe("the flags of an operation", () => {
  it("are its fields at the top, with hyphens", () => {
    expect(flagsOf(updateStorageEvent).map(({ flag }) => flag)).toEqual([
      "client-id",
      "name",
      "bucket-name",
      "storage-name",
      "bytes",
      "count",
      "uuid",
    ]);
  });
});

describe("a request from flags", () => {
  it("puts each value in its place with the type of its field", () => {
    const data = ofFlags(updateContainer, {
      "project-id": "1234567",
      "region-id": "76",
      "container-name": "007",
      description: "42",
      "is-disabled": "true",
      timeout: "30",
      scale: '{"min":1,"max":5}',
      commands: "null",
    });

    expect(data).toEqual({
      operation: "update-container",
      params: { project_id: 1234567, region_id: 76, container_name: "007" },
      query: {},
      body: {
        description: "42",
        is_disabled: true,
        timeout: 30,
        scale: { min: 1, max: 5 },
        commands: "null",
      },
    });
  });

  it("clears a field that takes null", () => {
    expect(ofFlags(updateContainer, { timeout: "null" }).body).toEqual({ timeout: null });
  });

  it("reads a list", () => {
    expect(ofFlags(removePolicyVolumes, { "volume-ids": '["a","b"]' }).body).toEqual({
      volume_ids: ["a", "b"],
    });
  });

  it("keeps an unsigned 64-bit integer whole", () => {
    expect(ofFlags(updateStorageEvent, { bytes: "18446744073709551615" }).body).toEqual({
      bytes: "18446744073709551615",
    });
  });

  it("leaves a value of the wrong type to the contract to refuse", () => {
    expect(ofFlags(updatePolicy, { "policy-id": "one" }).params).toEqual({ policy_id: "one" });
  });

  it("takes an @ at the beginning of a text for what it is", () => {
    expect(ofFlags(updateContainer, { description: "@home" }).body).toEqual({
      description: "@home",
    });
  });

  it("has no body for an operation that takes none", () => {
    const data = ofFlags(resumeInstance, { "project-id": "1" });

    expect(data).toEqual({ operation: "resume-instance", params: { project_id: 1 }, query: {} });
  });
});

describe("a request from JSON and files", () => {
  it("reads a JSON value of a flag from a file", () => {
    const envs = fileOf("envs.json", '{"TOKEN":"hush"}');

    expect(ofFlags(updateContainer, { envs }).body).toEqual({ envs: { TOKEN: "hush" } });
  });

  it("lets a flag win over --body, and --body over --data", () => {
    const data = requestData(updatePolicy, {
      data: '{"params":{"policy_id":1},"body":{"name":"from data","status":"active"}}',
      body: fileOf("body.json", '{"name":"from body"}'),
      flags: flagsFor(updatePolicy, { status: "paused" }),
    });

    expect(data).toEqual({
      operation: "update-policy",
      params: { policy_id: 1 },
      query: {},
      body: { name: "from body", status: "paused" },
    });
  });

  it("keeps what --data says beside params, query and body", () => {
    const data = requestData(resumeInstance, {
      data: '{"deadline":"2026-01-31T12:00:00Z"}',
      flags: new Map(),
    });

    expect(data.deadline).toBe("2026-01-31T12:00:00Z");
  });

  it.each([
    ["--body", { body: "{bad" }, "--body: not valid JSON, such as '[\"a\"]' or '{\"a\":1}'"],
    ["--body", { body: "[]" }, "--body: must be a JSON object"],
    ["--data", { data: "@/no/such/file" }, "--data: cannot read /no/such/file"],
    ["--data", { data: '{"params":[]}' }, "--data: params must be a JSON object"],
    ["--data", { data: "null" }, "--data: must be a JSON object"],
  ])("refuses %s %j in words", (_option, input, message) => {
    expect(() => requestData(updatePolicy, { ...input, flags: new Map() })).toThrow(
      expect.objectContaining({ exitCode: 2, message }),
    );
  });

  it("names the flag whose JSON is not readable, and not the value", () => {
    expect(() => ofFlags(updateContainer, { envs: "TOKEN=hush" })).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringMatching(/^--envs: not valid JSON, such as \S+ or \S+$/),
      }),
    );
  });
});
