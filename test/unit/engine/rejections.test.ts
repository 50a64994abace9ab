import { describe, expect, test } from "vitest";
import * as z from "zod";
import { readState } from "../../../lib/admin/status.ts";
import { MAX_PER_HOUR, rejectRequest } from "../../../lib/engine/rejection.ts";
import type { Around } from "../../support/faults.ts";
import { startProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const DAY_MS = 86_400_000;
const TEAM = "111122223333";
const START = Date.UTC(2026, 0, 1);

const world = (around?: Around) =>
  createWorld({ provider: startProvider, ...(around && { around }) });
const stateOf = (current: World, id: string, sender = "own") =>
  readState(current.ledger, { sender, id, now: START });
/** The parts of the first hour. */
const hoursOf = async (current: World) =>
  (
    await Promise.all(
      Array.from({ length: 10 }, (_, part) =>
        current.ledger.read(`rejection-hour#own/2026-01-01T00/${part}`),
      ),
    )
  ).filter((item) => item !== undefined);
const invalid = (id: string) => requests.updatePolicy(id, { status: "asleep" });
const rejectedBy = (current: World) =>
  current.bus.published().filter(({ detailType }) => detailType === "CommandRejected");

/** Fails each write for which this is true, once. */
const failingOnce = (isMeant: (name: string) => boolean): Around => {
  let isDone = false;
  return async ({ name }, effect) => {
    if (isDone || !isMeant(name)) return effect();
    isDone = true;
    throw new Error("the ledger is away");
  };
};

describe("a rejected request", () => {
  test("is recorded under its command's id and under its event's id", async () => {
    const current = await world();

    await current.handle(invalid("c1"));

    const recorded = {
      kind: "rejected",
      commandId: "c1",
      eventId: "event-c1",
      operation: "update-policy",
      reason: "invalid",
      problems: [{ path: "body.status" }],
      problemCount: 1,
      rejectedAt: new Date(START).toISOString(),
    };
    expect(await stateOf(current, "c1")).toMatchObject(recorded);
    expect(await stateOf(current, "event-c1")).toMatchObject(recorded);
  });

  test("is forgotten after 30 days", async () => {
    const current = await world();

    await current.handle(invalid("c1"));

    const keys = ["rejection#own/c1", "rejection#own/event-c1"];
    for (const key of keys) {
      expect((await current.ledger.read(key))?.expiresAt).toBe(START + 30 * DAY_MS);
    }
    const [hour] = await hoursOf(current);
    expect(hour?.expiresAt).toBe(START + 3_600_000 + 30 * DAY_MS);
  });

  test("is visible to its own sender only", async () => {
    const current = await createWorld({
      provider: startProvider,
      rights: requests.shared(TEAM),
      ownSender: "own",
    });

    await current.handleFrom(TEAM, invalid("c1"));

    expect(await stateOf(current, "c1", TEAM)).toMatchObject({ reason: "invalid" });
    expect(await stateOf(current, "c1")).toBeUndefined();
  });

  test("under the id of a command leaves that command's item unchanged", async () => {
    const current = await world();
    await current.handle(requests.updatePolicy("c1", { status: "paused" }));
    const before = await current.ledger.read("command#own/c1");
    const other = requests.updatePolicy("c1", { status: "active" });

    await current.handle({ ...other, metadata: { ...other.metadata, id: "event-other" } });

    expect(await current.ledger.read("command#own/c1")).toEqual(before);
    const rejection = { reason: "id-reused", eventId: "event-other" };
    expect(await stateOf(current, "c1")).toMatchObject({
      kind: "command",
      status: "succeeded",
      rejections: [rejection],
    });
    expect(
      await readState(current.ledger, { sender: "own", id: "c1", now: START }, "event-other"),
    ).toMatchObject({ kind: "rejected", ...rejection });
  });

  test("that is delivered again is one record and one event", async () => {
    const current = await world();
    await current.handle(invalid("c1"));
    await current.clock.advance(60_000);

    await current.handle(invalid("c1"));

    const [first, second] = rejectedBy(current);
    expect(second).toEqual(first);
    expect(await stateOf(current, "c1")).not.toHaveProperty("rejections");
  });

  test("that was accepted at its second delivery is not shown beside its command", async () => {
    const current = await world();
    const request = requests.updatePolicy("c1");
    const rejection = {
      ...{ sender: "own", commandId: "c1", eventId: "event-c1", correlationId: undefined },
      ...{ reason: "lane-full" as const, problems: [], operation: "update-policy" },
    };
    await rejectRequest(current.newInvocation().deps, rejection, JSON.stringify(request));

    await current.handle(request);

    expect(await stateOf(current, "c1")).toMatchObject({ kind: "command", status: "succeeded" });
    expect(await stateOf(current, "c1")).not.toHaveProperty("rejections");
  });

  test("without any id is listed in its hour", async () => {
    const current = await world();

    await current.handle({ metadata: {}, data: requests.updatePolicy("c1").data });

    const [hour] = await hoursOf(current);
    const { entries } = z
      .object({ entries: z.tuple([z.object({ id: z.string() })]) })
      .parse(hour?.value);
    expect(await stateOf(current, entries[0].id)).toMatchObject({
      kind: "rejected",
      reason: "invalid",
      operation: "update-policy",
      problems: [{ path: "metadata.commandId", rule: "required" }],
    });
    expect(current.publishedTypes()).toEqual([]);
  });

  test("with more problems than a record has room for keeps the first, and their number", async () => {
    const current = await world();
    const novel = "x".repeat(5_000);
    const body = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`${novel}${index}`, novel]),
    );

    await current.handle(
      requests.requestOf("c1", { ...requests.updatePolicy("c1").data, ...body }),
    );

    const item = await current.ledger.read("rejection#own/c1");
    expect(Buffer.byteLength(JSON.stringify(item))).toBeLessThan(6_000);
    expect(await stateOf(current, "c1")).toMatchObject({ kind: "rejected", reason: "invalid" });
  });
});

describe("many rejections of one sender", () => {
  test("are recorded up to the limit of an hour, and all of them are published", async () => {
    const current = await world();

    for (let index = 0; index <= MAX_PER_HOUR; index++) await current.handle(invalid(`c${index}`));
    const last = await stateOf(current, `c${MAX_PER_HOUR - 1}`);
    const beyond = await stateOf(current, `c${MAX_PER_HOUR}`);
    await current.clock.advance(3_600_000);
    await current.handle(invalid("later"));

    expect(last).toMatchObject({ kind: "rejected" });
    expect(beyond).toBeUndefined();
    expect(await stateOf(current, "later")).toMatchObject({ kind: "rejected" });
    expect(rejectedBy(current)).toHaveLength(MAX_PER_HOUR + 2);
  });

  test("at the same time do not conflict", async () => {
    const current = await world();
    const { deps } = current.newInvocation();
    const ids = Array.from({ length: MAX_PER_HOUR }, (_, index) => `c${index}`);

    await Promise.all(
      ids.map((commandId) =>
        rejectRequest(
          deps,
          {
            ...{ sender: "own", commandId, eventId: commandId, correlationId: undefined },
            ...{ reason: "invalid" as const, problems: [], operation: "update-policy" },
          },
          commandId,
        ),
      ),
    );

    expect(rejectedBy(current)).toHaveLength(MAX_PER_HOUR);
    const states = await Promise.all(ids.map((id) => stateOf(current, id)));
    expect(states.filter((state) => state === undefined)).toEqual([]);
  });

  test("of another sender have a limit of their own", async () => {
    const current = await createWorld({
      provider: startProvider,
      rights: requests.shared(TEAM),
      ownSender: "own",
    });
    for (let index = 0; index <= MAX_PER_HOUR; index++) await current.handle(invalid(`c${index}`));

    await current.handleFrom(TEAM, invalid("theirs"));

    expect(await stateOf(current, "theirs", TEAM)).toMatchObject({ kind: "rejected" });
  });

  test("under one id keep the newest five", async () => {
    const current = await world();

    for (let index = 0; index < 7; index++) {
      await current.handle({ ...invalid("c1"), metadata: { commandId: "c1", id: `e${index}` } });
    }

    const state = await stateOf(current, "c1");
    expect(state).toMatchObject({ kind: "rejected", eventId: "e6" });
    expect(state?.rejections?.map(({ eventId }) => eventId)).toEqual(["e2", "e3", "e4", "e5"]);
  });
});

describe("a record that cannot be written", () => {
  test.each([
    "ledger.write rejection-hour#own/2026-01-01T00/",
    "ledger.write rejection#own/event-c1",
  ])(
    "at %s: the message is delivered again, and the rejection is published once",
    async (write) => {
      const seen: string[] = [];
      const fail = failingOnce((name) => name.startsWith(write));
      const current = await world((step, effect) => {
        seen.push(step.name);
        return fail(step, effect);
      });
      await current.send(invalid("c1"));
      await current.untilQuiet();

      expect(seen.some((name) => name.startsWith(write))).toBe(true);
      expect(current.errors).toHaveLength(1);
      expect(rejectedBy(current)).toHaveLength(1);
      expect(await stateOf(current, "c1")).toMatchObject({ kind: "rejected" });
      expect(await stateOf(current, "event-c1")).toMatchObject({ kind: "rejected" });
    },
  );
});
