import { expect, test } from "vitest";
import { createThresholdWorld, event } from "./threshold-world.ts";

const EVENTS = [event("reaching_used_space", "photos", { bytes: "500" })];

const rejectedBy = async (config: string | undefined) => {
  const world = await createThresholdWorld({ events: EVENTS });
  world.source.write(config);
  await world.sync();
  expect(world.requests).toEqual([]);
  expect(await world.remembered()).toBeUndefined();
  expect(world.publishedTypes()).toEqual(["ThresholdsRejected"]);
  return world.publishedOf("ThresholdsRejected")[0]?.data;
};

test("a missing config changes nothing and is published", async () => {
  const data = await rejectedBy(undefined);

  expect(data).toEqual({
    cause: "object-created",
    source: { name: "test.yaml" },
    reason: "missing",
    problemCount: 1,
    problems: [{ path: "", rule: "the file does not exist" }],
  });
});

test.each([
  ["an empty file", ""],
  ["only a comment", "# nothing\n"],
  ["only prune", "prune: true\n"],
  ["a list without a value", "prune: true\nthresholds:\n"],
])("%s deletes no threshold although `prune` is true", async (_what, config) => {
  const data = await rejectedBy(config);

  expect(data.reason).toBe("invalid");
});

test("every mistake is reported with its line, without quoting the file", async () => {
  const data = await rejectedBy(`prune: perhaps
thresholds:
  - name: reaching_used_space
    bucket_name: photos
    count: 12345
  - name: reaching_the_moon
    bytes: 1
  - name: reaching_used_space
    bucket_name: photos
    bytes: 18446744073709551616
  - name: reaching_files_quantity
    cuont: 5
`);

  expect(data.problems).toEqual([
    { path: "prune", rule: "true or false", line: 1 },
    {
      path: "thresholds.0.count",
      rule: "not allowed with reaching_used_space; use bytes",
      line: 5,
    },
    { path: "thresholds.1.name", rule: expect.stringMatching(/^one of reaching_/), line: 6 },
    {
      path: "thresholds.2",
      rule: "duplicate of thresholds.0: same name, storage_name and bucket_name",
      line: 8,
    },
    { path: "thresholds.2.bytes", rule: expect.stringMatching(/^a size such as/), line: 10 },
    { path: "thresholds.3.count", rule: "required", line: 11 },
    { path: "thresholds.3.cuont", rule: "unknown field", line: 12 },
  ]);
  expect(JSON.stringify(data)).not.toContain("12345");
});

test("a file that is not YAML is reported with the line", async () => {
  const data = await rejectedBy("thresholds:\n  - name: reaching_used_space\n   bytes: 5\n");

  expect(data.problems[0]).toMatchObject({ line: 3 });
  expect(data.problems[0].rule).toMatch(/^not readable as YAML: /);
});

test("of a thousand mistakes the event has the first hundred, and the total", async () => {
  const entry = "  - { name: reaching_used_space, bytes: 1 }\n";
  const data = await rejectedBy(`thresholds:\n${entry.repeat(1001)}`);

  expect(data.problemCount).toBe(1000);
  expect(data.problems).toHaveLength(100);
});

test("a rejection that the bus refuses fails the sync, so that it is retried", async () => {
  const world = await createThresholdWorld({ config: "" });
  world.bus.refuse(() => true);

  await expect(world.sync()).rejects.toThrow("ThresholdsRejected could not be published");

  expect(world.counted).toEqual([]);
});

test("each sync of an invalid config publishes a rejection, with the same id for a redelivered event", async () => {
  const world = await createThresholdWorld({ config: "" });

  await world.sync({ eventId: "one" });
  await world.sync({ eventId: "one" });
  await world.sync({ eventId: "two", kind: "schedule" });

  const ids = world.bus.published().map(({ id }) => id);
  expect(ids[0]).toBe(ids[1]);
  expect(new Set(ids).size).toBe(2);
});

test("a rejected config is counted, a synced one is not", async () => {
  const world = await createThresholdWorld({ config: "" });

  await world.sync();
  world.source.write(undefined);
  await world.sync();
  world.source.write("thresholds: []\n");
  await world.sync();

  expect(world.counted).toEqual(["ThresholdsRejected", "ThresholdsRejected"]);
});

test("the log lines of a sync have the account and the id of its cause", async () => {
  const world = await createThresholdWorld({ config: "" });

  await world.sync({ eventId: "s3-event" });

  expect(world.log.lines).toMatchObject([
    {
      message: "thresholds config rejected",
      fields: { account: "local", correlationId: "s3-event" },
    },
  ]);
});

test("a corrected config is synced", async () => {
  const world = await createThresholdWorld({ config: "", events: EVENTS });
  await world.sync();
  world.source.write("prune: true\nthresholds: []\n");

  await world.sync();

  expect(await world.actual()).toEqual([]);
});
