import { describe, expect, test } from "vitest";
import { readThresholdConfig } from "../../../../lib/jobs/thresholds/config.ts";

const read = (text: string) => {
  const config = readThresholdConfig(text);
  if (config.kind === "invalid") throw new Error(JSON.stringify(config.problems));
  return config.value;
};

const problemsOf = (text: string): readonly string[] => {
  const config = readThresholdConfig(text);
  return config.kind === "valid"
    ? []
    : config.problems.map(({ path, rule, line }) => `${line} ${path}: ${rule}`);
};

const one = (fields: string) => `thresholds: [{ ${fields} }]`;

describe("a thresholds file", () => {
  test("reads the same config from YAML and from JSON", () => {
    const yaml = read(`
client_id: 9223372036854775807
prune: true
thresholds:
  - name: reaching_used_space
    storage_name: my-storage
    bucket_name: photos
    bytes: 1.5 TiB
  - name: reaching_used_requests
    count: "18446744073709551615"
`);
    const json = read(`{
  "$schema": "thresholds.schema.json",
  "client_id": 9223372036854775807,
  "prune": true,
  "thresholds": [
    { "name": "reaching_used_space", "storage_name": "my-storage", "bucket_name": "photos", "bytes": 1649267441664 },
    { "name": "reaching_used_requests", "count": 18446744073709551615 }
  ]
}`);

    expect(yaml).toEqual({
      clientId: 9223372036854775807n,
      prune: true,
      thresholds: [
        {
          name: "reaching_used_space",
          storage_name: "my-storage",
          bucket_name: "photos",
          limit: "1649267441664",
        },
        { name: "reaching_used_requests", limit: "18446744073709551615" },
      ],
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(json).toEqual(yaml);
  });

  test("does not prune by default", () => {
    expect(read("thresholds: []").prune).toBe(false);
  });

  test.each([
    [
      "an unknown name",
      one("name: reaching_the_moon, bytes: 1"),
      /name: one of reaching_used_space/,
    ],
    [
      "a limit that belongs to other names",
      one("name: reaching_used_traffic, count: 1"),
      /count: not allowed with .*; use bytes/,
    ],
    [
      "both limits",
      one("name: reaching_used_space, bytes: 1, count: 1"),
      /count: not allowed with .*; use bytes/,
    ],
    ["no limit", one("name: reaching_used_space"), /bytes: required/],
    ["a negative limit", one("name: reaching_used_space, bytes: -1"), /bytes: a size such as/],
    [
      "a limit beyond 64 bits",
      one("name: reaching_files_quantity, count: 18446744073709551616"),
      /count: a whole number from 0/,
    ],
    [
      "a limit that may have been rounded",
      one("name: reaching_files_quantity, count: 9007199254740991.4"),
      /count: a whole number/,
    ],
    ["an unknown unit", one("name: reaching_used_space, bytes: 5 GiG"), /bytes: a size such as/],
    [
      "a size for a count",
      one("name: reaching_files_quantity, count: 5 GiB"),
      /count: a whole number/,
    ],
    [
      "an empty bucket name",
      one("name: reaching_used_space, bucket_name: '', bytes: 1"),
      /bucket_name: must not be empty/,
    ],
    [
      "a number as bucket name",
      one("name: reaching_used_space, bucket_name: 5, bytes: 1"),
      /bucket_name: a string/,
    ],
    ["prune as text", "prune: 'true'\nthresholds: []", /prune: true or false/],
    ["a client id as text", "client_id: '5'\nthresholds: []", /client_id: a whole number/],
    ["an object instead of the list", "thresholds: {}", /thresholds: a list/],
    ["text instead of a threshold", "thresholds: [a]", /thresholds.0: an object/],
    ["an unknown field", "thresholds: []\nclients: []", /clients: unknown field/],
  ])("is refused with %s", (_what, text, problem) => {
    const problems = problemsOf(text);

    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });

  test("names each repeated target, and only those", () => {
    const problems = problemsOf(`thresholds:
  - { name: reaching_used_space, bucket_name: a, bytes: 1 }
  - { name: reaching_used_space, bucket_name: b, bytes: 1 }
  - { name: reaching_used_space, bucket_name: a, bytes: 2 }
  - { name: reaching_used_traffic, bucket_name: a, bytes: 1 }
  - { name: reaching_used_space, storage_name: a, bytes: 1 }
  - { name: reaching_used_space, bucket_name: a, bytes: 1 }
`);

    expect(problems).toEqual([
      "4 thresholds.2: duplicate of thresholds.0: same name, storage_name and bucket_name",
      "7 thresholds.5: duplicate of thresholds.0: same name, storage_name and bucket_name",
    ]);
  });

  test("does not report unreadable names as duplicates", () => {
    const problems = problemsOf(`thresholds:
  - { name: reaching_used_space, bucket_name: 1, bytes: 1 }
  - { name: reaching_used_space, bucket_name: 2, bytes: 1 }
`);

    expect(problems.filter((problem) => problem.includes("duplicate"))).toEqual([]);
  });
});

describe("the digest of a thresholds file", () => {
  const A = "{ name: reaching_used_space, bucket_name: a, bytes: 1 KiB }";
  const B = "{ name: reaching_files_quantity, count: 5 }";
  const base = read(`prune: false\nthresholds: [${A}, ${B}]`).digest;

  test.each([
    ["a comment", `# why\nthresholds: [${A}, ${B}]`],
    ["the order", `thresholds: [${B}, ${A}]`],
    ["the notation of a size", `thresholds: [${A.replace("1 KiB", "1024")}, ${B}]`],
  ])("does not depend on %s", (_what, text) => {
    expect(read(text).digest).toBe(base);
  });

  test.each([
    ["prune", `prune: true\nthresholds: [${A}, ${B}]`],
    ["the client", `client_id: 1\nthresholds: [${A}, ${B}]`],
    ["a limit", `thresholds: [${A}, ${B.replace("5", "6")}]`],
    ["a target", `thresholds: [${A.replace("bucket_name: a", "bucket_name: b")}, ${B}]`],
    ["the listed thresholds", `thresholds: [${A}]`],
  ])("depends on %s", (_what, text) => {
    expect(read(text).digest).not.toBe(base);
  });
});
