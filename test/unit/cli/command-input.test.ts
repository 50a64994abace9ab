import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { flagsOf, requestData } from "../../../lib/cli/field-flags.ts";
import { updateContainer } from "../../../lib/contract/containers.ts";
import { resumeInstance } from "../../../lib/contract/instances.ts";
import { removePolicyVolumes, updatePolicy } from "../../../lib/contract/lifecycle-policies.ts";
import type { Mutation } from "../../../lib/contract/operation.ts";
import { fieldsOf } from "../../../lib/contract/operation-fields.ts";
import { COMMANDED, READS } from "../../../lib/contract/operations.ts";
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

/** The request from typed flags. */
const ofFlags = (operation: Mutation, given: Readonly<Record<string, string>>) =>
  requestData(operation, { flags: flagsFor(operation, given) });

describe("the flags of an operation", () => {
  it.each([...COMMANDED, ...READS].map((operation) => [operation.id, operation] as const))(
    "of %s are its top-level fields with their types and rules",
    (_, operation) => {
      const fields = fieldsOf(operation).filter(({ name }) => !/[.[]/.test(name));

      expect(flagsOf(operation).map(({ field }) => field())).toEqual(fields);
    },
  );

  it("are its top-level fields, with hyphens", () => {
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

  it("clears a nullable field", () => {
    expect(ofFlags(updateContainer, { timeout: "null" }).body).toEqual({ timeout: null });
  });

  it("reads a list", () => {
    expect(ofFlags(removePolicyVolumes, { "volume-ids": '["a","b"]' }).body).toEqual({
      volume_ids: ["a", "b"],
    });
  });

  it("keeps an unsigned 64-bit integer exact", () => {
    expect(ofFlags(updateStorageEvent, { bytes: "18446744073709551615" }).body).toEqual({
      bytes: "18446744073709551615",
    });
  });

  it("passes a value of the wrong type on to the contract's check", () => {
    expect(ofFlags(updatePolicy, { "policy-id": "one" }).params).toEqual({ policy_id: "one" });
  });

  it("keeps a leading @ of a text field", () => {
    expect(ofFlags(updateContainer, { description: "@home" }).body).toEqual({
      description: "@home",
    });
  });

  it("has no body for an operation without one", () => {
    const data = ofFlags(resumeInstance, { "project-id": "1" });

    expect(data).toEqual({ operation: "resume-instance", params: { project_id: 1 }, query: {} });
  });
});

describe("a request from JSON and files", () => {
  it("reads a JSON value of a flag from a file", () => {
    const envs = fileOf("envs.json", '{"TOKEN":"hush"}');

    expect(ofFlags(updateContainer, { envs }).body).toEqual({ envs: { TOKEN: "hush" } });
  });

  it("prefers a flag over --body, and --body over --data", () => {
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

  it("keeps the other fields of --data", () => {
    const data = requestData(resumeInstance, {
      data: '{"deadline":"2026-01-31T12:00:00Z"}',
      flags: new Map(),
    });

    expect(data.deadline).toBe("2026-01-31T12:00:00Z");
  });

  it.each([
    [
      "--body",
      { body: "{bad" },
      "--body: not valid JSON at line 1, column 2; write it as '[\"a\"]' or '{\"a\":1}'",
    ],
    ["--body", { body: "[]" }, "--body: must be a JSON object"],
    ["--data", { data: "@/no/such/file" }, "--data: cannot read /no/such/file"],
    ["--data", { data: '{"params":[]}' }, "--data: params must be a JSON object"],
    ["--data", { data: "null" }, "--data: must be a JSON object"],
  ])("refuses %s %j", (_option, input, message) => {
    expect(() => requestData(updatePolicy, { ...input, flags: new Map() })).toThrow(
      expect.objectContaining({ exitCode: 2, message }),
    );
  });

  it("names the flag with invalid JSON, without the value", () => {
    expect(() => ofFlags(updateContainer, { envs: "TOKEN=hush" })).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringMatching(
          /^--envs: not valid JSON at line 1, column 1; write it as \S+ or \S+$/,
        ),
      }),
    );
  });
});
