import { describe, expect, test } from "vitest";
import { fingerprintOf } from "../../../../lib/jobs/prices/reading.ts";
import { readWatchlist } from "../../../../lib/jobs/prices/watchlist.ts";

const GOOD = `# prices to watch
items:
  - name: web
    instance:
      project_id: 9223372036854775807
      region_id: 76
      body:
        flavor: g1-standard-1-2
        names: [web]
        interfaces:
          - { type: external }
        volumes:
          - { source: image, image_id: B39792C3-3160-4356-912E-BA396C95CDCF, size: 10 }
  - name: k8s.prod
    k8s_cluster: { project_id: 1, region_id: 76, cluster_name: my-cluster }
  - name: GPU_1
    gpu_cluster: { project_id: 1, region_id: 76, server_id: F1C1EEB6-1834-48C9-A7B0-DAAFCE64872B }
  - name: ddos-76
    ddos: { region_id: 76 }
`;

const CONTENT = [
  {
    name: "web",
    order: {
      kind: "instance",
      params: { project_id: 9223372036854775807n, region_id: 76 },
      body: {
        flavor: "g1-standard-1-2",
        names: ["web"],
        interfaces: [{ type: "external" }],
        volumes: [{ source: "image", image_id: "b39792c3-3160-4356-912e-ba396c95cdcf", size: 10 }],
      },
    },
  },
  {
    name: "k8s.prod",
    order: {
      kind: "k8s_cluster",
      params: { project_id: 1, region_id: 76, cluster_name: "my-cluster" },
    },
  },
  {
    name: "GPU_1",
    order: {
      kind: "gpu_cluster",
      params: { project_id: 1, region_id: 76, server_id: "f1c1eeb6-1834-48c9-a7b0-daafce64872b" },
    },
  },
  { name: "ddos-76", order: { kind: "ddos", params: { region_id: 76 } } },
];

/** Problems of a text, each as `line: path: rule`. */
const problemsIn = (text: string): readonly string[] => {
  const read = readWatchlist(text);
  return read.kind === "valid"
    ? []
    : read.problems.map(({ line, path, rule }) => `${line}: ${path}: ${rule}`);
};

const KIND_RULE = "give exactly one of instance, k8s_cluster, gpu_cluster, ddos";

describe("a watchlist", () => {
  test("has items of the four kinds, with ids of any size", () => {
    expect(readWatchlist(GOOD)).toEqual({ kind: "valid", value: CONTENT });
  });

  test("may be JSON, and refer to its schema", () => {
    const text = JSON.stringify({
      $schema: "./watchlist.schema.json",
      items: [{ name: "d", ddos: { region_id: 76 } }],
    });

    expect(readWatchlist(text)).toMatchObject({
      kind: "valid",
      value: [{ name: "d", order: { kind: "ddos" } }],
    });
  });

  test.each(["...", ".a", "a.", "..a"])("may have the name %s", (name) => {
    expect(problemsIn(`items: [{ name: ${name}, ddos: { region_id: 1 } }]`)).toEqual([]);
  });

  test("may hold 500 items and no more", () => {
    const item = (_: unknown, index: number) => ({ name: `i${index}`, ddos: { region_id: 1 } });
    const textOf = (length: number) => JSON.stringify({ items: Array.from({ length }, item) });

    expect(problemsIn(textOf(500))).toEqual([]);
    expect(problemsIn(textOf(501))).toEqual(["1: items: at most 500 items"]);
  });

  test("reports every mistake in it, each with its line", () => {
    const text = `items:
  - name: twice
    ddos: { region_id: 76 }
  - name: a b
    ddos:
      region: 76
  - name: twice
    colour: red
    k8s_cluster: { project_id: 1, region_id: 2, cluster_name: .. }
  - ddos: { region_id: 1.5 }
  - 7
`;

    expect(problemsIn(text)).toEqual([
      "4: items.1.name: 1 to 64 letters, digits, dots, underscores or hyphens",
      "5: items.1.ddos.region_id: required",
      "6: items.1.ddos.region: unknown field",
      "7: items.2.name: duplicate name: each item needs its own",
      "8: items.2.colour: unknown field",
      "9: items.2.k8s_cluster.cluster_name: must not be . or ..",
      "10: items.3.name: required",
      "10: items.3.ddos.region_id: a whole number",
      "11: items.4: an object",
    ]);
  });

  test.each([
    ["no kind", "items:\n  - name: a", `2: items.0: ${KIND_RULE}`],
    [
      "two kinds",
      "items:\n  - name: a\n    ddos: { region_id: 1 }\n    k8s_cluster: { project_id: 1, region_id: 2, cluster_name: c }",
      `3: items.0.ddos: ${KIND_RULE}`,
    ],
    [
      "a name of 65 characters",
      `items: [{ name: ${"a".repeat(65)}, ddos: { region_id: 1 } }]`,
      "1: items.0.name: 1 to 64 letters, digits, dots, underscores or hyphens",
    ],
    [
      "a name with a line break",
      'items: [{ name: "a\\n", ddos: { region_id: 1 } }]',
      "1: items.0.name: 1 to 64 letters, digits, dots, underscores or hyphens",
    ],
    [
      "a name that is one dot",
      "items: [{ name: ., ddos: { region_id: 1 } }]",
      "1: items.0.name: must not be . or ..",
    ],
    [
      "a name that is two dots",
      "items: [{ name: .., ddos: { region_id: 1 } }]",
      "1: items.0.name: must not be . or ..",
    ],
    [
      "a name that is a number",
      "items: [{ name: 7, ddos: { region_id: 1 } }]",
      "1: items.0.name: a string",
    ],
    [
      "an order with neither names nor templates",
      "items:\n  - name: a\n    instance:\n      project_id: 1\n      region_id: 2\n      body:\n        flavor: f\n        interfaces: []",
      "6: items.0.instance.body.names: give exactly one of names and name_templates",
    ],
    [
      "a misspelt field of an order",
      "items:\n  - name: a\n    instance:\n      project_id: 1\n      region_id: 2\n      body:\n        flavor: f\n        names: [n]\n        interfaces: []\n        volume: []",
      "10: items.0.instance.body.volume: unknown field",
    ],
    [
      "an id beyond 64 bits",
      "items:\n  - name: a\n    gpu_cluster:\n      project_id: 9223372036854775808\n      region_id: 1\n      server_id: f1c1eeb6-1834-48c9-a7b0-daafce64872b",
      "4: items.0.gpu_cluster.project_id: at most 9223372036854775807",
    ],
    ["no list", "items: {}", "1: items: a list"],
    ["unknown fields only", "item: []", "1: items: required"],
  ])("with %s is refused", (_, text, problem) => {
    expect(problemsIn(text)).toContain(problem);
  });
});

describe("the fingerprint of an order", () => {
  const fingerprints = (text: string): readonly string[] => {
    const read = readWatchlist(text);
    return read.kind === "valid" ? read.value.map(({ order }) => fingerprintOf(order)) : [];
  };

  test("differs between any two orders", () => {
    const kinds = new Set(fingerprints(GOOD));
    const others = new Set(fingerprints(GOOD.replace("names: [web]", "names: [web, web]")));

    expect(kinds.size).toBe(4);
    expect([...others].filter((one) => !kinds.has(one))).toHaveLength(1);
  });

  test("distinguishes ids that floating point would confuse", () => {
    const near = GOOD.replace("9223372036854775807", "9223372036854775806");

    expect(fingerprints(near)[0]).not.toBe(fingerprints(GOOD)[0]);
  });
});
