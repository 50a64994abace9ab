import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lanes, MAX_WAITING } from "../../../lib/engine/lane.ts";
import { readMessage } from "../../../lib/engine/queue-message.ts";
import { startProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const DAY_MS = 86_400_000;
const world = (): Promise<World> => createWorld({ provider: startProvider });
const inFuture = (from: World, ms: number) => new Date(from.clock.now() + ms).toISOString();
const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** A request as text, for values that JSON.stringify cannot write. */
const containerText = (body: string): string =>
  `{"metadata":{"commandId":"c1"},"data":{"operation":"update-container","params":{"project_id":1,"region_id":2,"container_name":"web"},"body":${body}}}`;

/** Delivers the same message twice. @returns the rejection, which both deliveries publish */
const rejectionOf = async (current: World, detail: unknown) => {
  await current.send(detail);
  await current.send(detail);
  await current.untilQuiet();
  expect(current.errors).toEqual([]);
  const told = current.bus.published();
  expect(told.map(({ detailType }) => detailType)).toEqual(["CommandRejected", "CommandRejected"]);
  expect(told[0]?.id).toBe(told[1]?.id);
  return told[0]!;
};

describe("a request that cannot become a command is reported and changes nothing", () => {
  const place = { project_id: 1, region_id: 2 };
  const container = { ...place, container_name: "web" };
  const event = { name: "reaching_used_space" };
  const update = (fields: object) => ({
    operation: "update-container",
    params: container,
    body: {},
    ...fields,
  });
  const bytes = (value: unknown) => ({
    operation: "update-storage-event",
    body: { ...event, bytes: value },
  });

  test.each([
    ["an unknown operation", { operation: "explode" }, "unknown-operation", ["operation"]],
    ["a read", { operation: "get-task" }, "unknown-operation", ["operation"]],
    ["no operation", {}, "unknown-operation", ["operation"]],
    [
      "values outside every limit",
      update({
        params: { project_id: "1", region_id: 1.5, container_name: "..", zone: 1 },
        query: { force: true },
        body: { timeout: 181, listening_port: 0, scale: { min: 3, max: 2 }, colour: "red" },
        priority: 1,
      }),
      "invalid",
      [
        "priority",
        "params.project_id",
        "params.region_id",
        "params.container_name",
        "params.zone",
        "query.force",
        "body.listening_port",
        "body.scale.min",
        "body.timeout",
        "body.colour",
      ],
    ],
    [
      "missing params",
      update({ params: {} }),
      "invalid",
      ["params.project_id", "params.region_id", "params.container_name"],
    ],
    [
      "a body for an operation without one",
      { operation: "resume-instance", params: { ...place, instance_id: "i" }, body: {} },
      "invalid",
      ["body"],
    ],
    ["a body that is no object", update({ body: "text" }), "invalid", ["body"]],
    ["bytes that are no number", bytes("abc"), "invalid", ["body.bytes"]],
    ["bytes with a leading zero", bytes("007"), "invalid", ["body.bytes"]],
    ["negative bytes", bytes("-1"), "invalid", ["body.bytes"]],
    ["a fraction of bytes", bytes(1.5), "invalid", ["body.bytes"]],
    ["bytes above 64 bits", bytes("18446744073709551616"), "invalid", ["body.bytes"]],
    [
      "a name that is not valid Unicode",
      update({ params: { ...place, container_name: "a\ud800" } }),
      "invalid",
      ["params.container_name"],
    ],
    [
      "a name that is too long for a key",
      update({ params: { ...place, container_name: "é".repeat(400) } }),
      "invalid",
      ["params.container_name"],
    ],
    [
      "a request that is too large for an event",
      update({ body: { commands: "x".repeat(256_000) } }),
      "invalid",
      [""],
    ],
    ["waiting for itself", update({ body: {}, after: ["c0", "c1"] }), "invalid", ["after.1"]],
    [
      "too many commands in `after`",
      update({ body: {}, after: Array.from({ length: 21 }, (_, index) => `c-${index}`) }),
      "invalid",
      ["after"],
    ],
    [
      "a guard without a resource, with two conditions",
      update({ body: {}, guards: [{ key: "k", equals: "v", exists: true }] }),
      "invalid",
      ["guards.0", "guards.0"],
    ],
    [
      "a guard with an unknown field and without a key",
      update({ body: {}, guards: [{ network: {}, tag: "k", absent: true }] }),
      "invalid",
      [
        "guards.0.network.project_id",
        "guards.0.network.region_id",
        "guards.0.network.network_id",
        "guards.0.key",
        "guards.0.tag",
      ],
    ],
    [
      "too many guards",
      update({
        body: {},
        guards: Array.from({ length: 5 }, () => ({
          network: {
            project_id: 1,
            region_id: 1,
            network_id: "b39792c3-3160-4356-912e-ba396c95cdcf",
          },
          key: "k",
          absent: true,
        })),
      }),
      "invalid",
      ["guards"],
    ],
    ["a dry run that is no yes or no", update({ body: {}, dryRun: "yes" }), "invalid", ["dryRun"]],
    ["an unknown account", update({ account: "nobody", body: {} }), "not-allowed", [""]],
    [
      "a deadline that is not a time",
      update({ body: {}, deadline: "tomorrow" }),
      "invalid",
      ["deadline"],
    ],
    [
      "a deadline on a day that does not exist",
      update({ body: {}, deadline: "2026-02-30T00:00:00Z" }),
      "invalid",
      ["deadline"],
    ],
  ])("%s", async (_what, data, reason, paths) => {
    const current = await world();

    const rejection = await rejectionOf(current, requests.requestOf("c1", data));

    expect(rejection.data).toMatchObject({ reason });
    expect(rejection.data.problems.map(({ path }: { path: string }) => path)).toEqual(paths);
    expect(rejection.metadata).toMatchObject({ commandId: "c1", causationId: "event-c1" });
    expect(await current.ledger.read("command#own/c1")).toBeUndefined();
    expect(await current.dueEntries()).toEqual([]);
  });

  test.each([
    [
      "an unknown field of the envelope",
      '{"metadata":{"commandId":"c1"},"data":{"operation":"update-policy"},"extra":1}',
    ],
    [
      "a number above 2^53-1, which JSON readers round",
      containerText('{"timeout":9007199254740993}'),
    ],
    ["a number that JSON cannot hold", containerText('{"timeout":1e999}')],
    ["a body nested without end", containerText(nested(20_000))],
    ["data that is null", '{"metadata":{"commandId":"c1"},"data":null}'],
    ["a problem with a very long name", containerText(`{"${"é".repeat(100_000)}":1}`)],
  ])("%s", async (_what, text) => {
    const current = await world();

    const rejection = await rejectionOf(current, text);

    expect(rejection.metadata.commandId).toBe("c1");
    expect(await current.ledger.read("command#own/c1")).toBeUndefined();
  });

  test("a request that was made more than 30 days ago", async () => {
    const current = await world();
    const request = requests.updatePolicy("c1");
    const time = inFuture(current, -30 * DAY_MS - 1);

    const rejection = await rejectionOf(current, {
      ...request,
      metadata: { ...request.metadata, time },
    });

    expect(rejection.data.reason).toBe("too-old");
  });

  test("a request with a time so far ahead that its command would expire first", async () => {
    const current = await world();
    const request = requests.updatePolicy("c1");
    const time = inFuture(current, 30 * DAY_MS + 1);

    const rejection = await rejectionOf(current, {
      ...request,
      metadata: { ...request.metadata, time },
    });

    expect(rejection.data).toMatchObject({
      reason: "invalid",
      problems: [{ path: "metadata.time" }],
    });
  });

  test.each([
    ["that has passed", 0, "too-late"],
    ["further ahead than 7 days", 7 * DAY_MS + 1, "invalid"],
  ])("a request with a deadline %s", async (_what, ahead, reason) => {
    const current = await world();
    const deadline = inFuture(current, ahead);

    const rejection = await rejectionOf(current, requests.updateContainer("c1", {}, { deadline }));

    expect(rejection.data).toMatchObject({ reason, problems: [{ path: "deadline" }] });
  });

  test("a request for a full lane", async () => {
    const current = await world();
    const lane = "local/policy/1234567/76/1";
    const waiting = Array.from({ length: MAX_WAITING }, (_, index) => `own/w${index}`);
    await lanes.write(current.ledger, lane, undefined, { holder: "own/h", waiting, changedAt: 1 });

    const rejection = await rejectionOf(current, requests.updatePolicy("c1"));

    expect(rejection.data.reason).toBe("lane-full");
    expect((await current.ledger.read(`lane#${lane}`))?.version).toBe(1);
  });
});

describe("a request without any id", () => {
  test.each([
    ["an id of half a character", '{"metadata":{"commandId":"\\ud800"},"data":{}}'],
    [
      "an id that is too long for a command's",
      JSON.stringify({ metadata: { id: "e".repeat(129) }, data: {} }),
    ],
    ["text that is no JSON", "{"],
    ["a JSON text", '"hello"'],
    ["null", "null"],
    ["a list", "[]"],
    ["an object", "{}"],
    ["a whole request", JSON.stringify({ ...requests.updatePolicy("c1"), metadata: {} })],
    ["an id that is no text", '{"metadata":{"id":7},"data":{}}'],
    ["ids that are dots alone", '{"metadata":{"id":"..","commandId":"."},"data":{}}'],
  ])("is only logged: %s", async (_what, text) => {
    const current = await world();

    await current.send(text);
    await current.untilQuiet();

    expect(current.errors).toEqual([]);
    expect(current.bus.published()).toEqual([]);
    expect(current.log.lines.map(({ level }) => level)).toEqual(["warn"]);
  });
});

test("every message of any content can be read", async () => {
  const { deps } = (await createWorld({ provider: startProvider })).newInvocation();
  const field = fc.oneof(fc.json(), fc.constantFrom("0", '"\\ud800"', "1e400", nested(10_000)));
  void fc.assert(
    fc.property(
      fc.constantFrom("body", "params", "query"),
      fc.string(),
      field,
      (place, key, value) => {
        const inside = `{${JSON.stringify(key)}:${value}}`;
        const text = `{"metadata":{"commandId":"c1"},"data":{"operation":"create-router","${place}":${inside}}}`;

        const message = readMessage(text, deps);

        expect(message.kind).toBe("rejected");
      },
    ),
  );
});
