import { spawnSync } from "node:child_process";
import { expect, it, vi } from "vitest";
import { exampleOf } from "../../../lib/events/examples.ts";
import { createMemoryStore } from "../../../lib/local/durable-store.ts";
import { openLocalBus } from "../../../lib/local/local-bus.ts";
import { contractProblem } from "../../support/contract-problem.mjs";
import { silentLog } from "../../support/logs.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { createRecordingBus } from "../../support/recording-bus.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const event = exampleOf("AccountPaused");
const { metadata, data } = Object(event.detail);

const wrong = { ...event, detail: { metadata, data: { ...data, until: "tomorrow" } } };
const PROBLEM = 'AccountPaused: /detail/data/until must match format "date-time"';

const CHECK = new URL("../../support/check-local-buses.mjs", import.meta.url).href;

/** Copies an event, as a local bus does, in a program that imports the check. */
const copyElsewhere = (copied: object) =>
  spawnSync(
    process.execPath,
    ["--import", CHECK, "-e", `structuredClone(${JSON.stringify(copied)})`],
    {
      encoding: "utf8",
    },
  );

const entryOf = ({ detail }: { readonly detail: object }) => ({
  detailType: "AccountPaused",
  detail: JSON.parse(JSON.stringify(detail)),
  time: Date.parse(metadata.time),
  groupId: "accounts/main",
  deduplicationId: metadata.id,
});

it("an event is wrong by a field, by a missing field or by an unknown type", () => {
  expect(contractProblem(event)).toBeUndefined();
  expect(contractProblem(wrong)).toBe(PROBLEM);
  expect(contractProblem({ ...event, detail: { metadata, data: {} } })).toMatch(
    /\/detail\/data must have required property 'since'/,
  );
  expect(contractProblem({ ...event, "detail-type": "Paused" })).toMatch(/no JSON Schema/);
});

it("a recording bus fails the test that published a wrong event", async () => {
  const bus = createRecordingBus(createMemoryLedger(), "own");
  await bus.publish([entryOf(event)]);
  expect(bus.published()).toHaveLength(1);

  await bus.publish([entryOf(wrong)]);
  expect(() => bus.published()).toThrow(PROBLEM);
});

it("a spawned run ends by an error when it publishes a wrong event", () => {
  expect(copyElsewhere(event)).toMatchObject({ status: 0, stderr: "" });

  const { status, stderr } = copyElsewhere(wrong);
  expect(status).not.toBe(0);
  expect(stderr).toContain(`published against its contract: ${PROBLEM}`);
});

it("a local bus copies each event by the function that the check wraps", async () => {
  const bus = await openLocalBus({
    map: createMemoryStore().map("bus"),
    clock: createVirtualClock(),
    random: createSeededRandom(),
    log: silentLog,
    source: "skyhook",
  });
  const copies = vi.spyOn(globalThis, "structuredClone");
  bus.subscribe(async () => {});
  bus.start();
  await bus.publish([entryOf(event)]);
  await bus.delivered();

  expect(copies.mock.calls.map(([copied]) => copied)).toMatchObject([
    { source: "skyhook", "detail-type": "AccountPaused", detail: event.detail },
  ]);
  copies.mockRestore();
  expect(globalThis.structuredClone.name).toBe("checkedCopy");
  await bus.stop();
});
