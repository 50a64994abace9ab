import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { StreamItem, StreamStart } from "../../../lib/admin/event-stream.ts";
import { createEventStream } from "../../../lib/local/event-stream.ts";
import { stampEvent } from "../../../lib/local/local-bus.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const eventOf = (id: string, detail: Parameters<typeof stampEvent>[0]["detail"] = {}) =>
  stampEvent(
    { source: "test", "detail-type": "Something", detail },
    { id, account: "111122223333", at: 0 },
  );

const open = (run = "run-1") => {
  const clock = createVirtualClock();
  return { clock, stream: createEventStream({ run, clock }) };
};

type Opened = ReturnType<typeof open>;

/** A reader that the test reads item by item. */
const reader = ({ stream }: Opened, start: Partial<StreamStart> = {}) => {
  const ending = new AbortController();
  const items = stream.follow({
    ...{ filter: { types: [] }, recent: 0, signal: ending.signal },
    ...start,
  });
  const iterator = items[Symbol.asyncIterator]();
  const next = async () => (await iterator.next()).value as StreamItem | undefined;
  return { next, end: () => ending.abort() };
};

const idIn = (item: StreamItem | undefined) => (item?.kind === "event" ? item.event.id : item);

describe("the event stream of a run", () => {
  test("yields events in order, those from before on request", async () => {
    const opened = open();
    for (const id of ["a", "b", "c"]) opened.stream.add(eventOf(id), "own");
    const { next } = reader(opened, { recent: 2 });

    expect([idIn(await next()), idIn(await next())]).toEqual(["b", "c"]);
    const coming = next();
    opened.stream.add(eventOf("d"), "own");
    expect(idIn(await coming)).toBe("d");
  });

  test("continues after a cursor without loss or repetition", async () => {
    const opened = open();
    for (const id of ["a", "b", "c"]) opened.stream.add(eventOf(id), "own");
    const first = await reader(opened, { recent: 3 }).next();
    const after = first?.kind === "event" ? first.cursor : "none";

    const { next } = reader(opened, { after });

    expect([idIn(await next()), idIn(await next())]).toEqual(["b", "c"]);
  });

  test("reports a gap to a reader that fell behind, and keeps no more than 1,000 events", async () => {
    const opened = open();
    opened.stream.add(eventOf("first"), "own");
    const { next } = reader(opened, { recent: 1 });
    await next();
    for (let n = 0; n < 1_500; n += 1) opened.stream.add(eventOf(`e${n}`), "own");

    expect(await next()).toEqual({ kind: "gap", missed: 500 });
    expect(idIn(await next())).toBe("e500");
  });

  test("keeps no more than 8 MiB", async () => {
    const opened = open();
    const text = "x".repeat(200_000);
    for (let n = 0; n < 100; n += 1) opened.stream.add(eventOf(`e${n}`, { text }), "own");

    const { next } = reader(opened, { recent: 1_000 });

    expect(idIn(await next())).toBe("e59");
  });

  test.each(["run-0-5", "run-1-999", "nonsense", ""])(
    "reports a gap for the cursor %j, which is none of this run",
    async (after) => {
      const opened = open();
      opened.stream.add(eventOf("a"), "own");
      const { next } = reader(opened, { after });

      expect(await next()).toEqual({ kind: "gap" });
      expect(idIn(await next())).toBe("a");
    },
  );

  test("shows a sign of life while nothing happens, with the newest cursor", async () => {
    const opened = open();
    opened.stream.add(eventOf("a"), "own");
    const { next } = reader(opened);
    const coming = next();
    await opened.clock.advance(15_000);

    expect(await coming).toEqual({ kind: "idle", cursor: "run-1-0" });
  });

  test("gives a new cursor while a filter leaves everything out, so that a gap is never counted in vain", async () => {
    const opened = open();
    const filter = { types: ["Wanted"] };
    const { next } = reader(opened, { filter });
    const coming = next();
    for (let n = 0; n < 1_200; n += 1) opened.stream.add(eventOf(`e${n}`), "own");

    expect(await coming).toEqual({ kind: "gap" });
    const item = await Promise.race([next(), setImmediate("nothing")]);
    expect(item).toEqual({ kind: "idle", cursor: "run-1-1199" });
    const { next: later } = reader(opened, { filter, after: "run-1-1199" });
    const waiting = later();
    await opened.clock.advance(15_000);
    expect(await waiting).toEqual({ kind: "idle", cursor: "run-1-1199" });
  });

  test("reports no gap to a reader that keeps up with large events which its filter leaves out", async () => {
    const opened = open();
    const { next } = reader(opened, { filter: { types: ["Wanted"] } });
    const coming = next();
    const text = "x".repeat(200_000);
    for (let n = 0; n < 60; n += 1) {
      opened.stream.add(eventOf(`e${n}`, { text }), "own");
      await setImmediate();
    }
    await opened.clock.advance(15_000);

    expect(await coming).toEqual({ kind: "idle", cursor: "run-1-59" });
  });

  test("ends when its reader has gone", async () => {
    const opened = open();
    const { next, end } = reader(opened);
    const coming = next();
    end();

    await coming;

    expect(await next()).toBeUndefined();
  });

  test("yields only accepted events, also of those from before", async () => {
    const opened = open();
    for (const id of ["a", "b", "c"]) {
      opened.stream.add(eventOf(id, { metadata: { commandId: id } }), "own");
    }
    const filter = { types: ["Some*", "Other"], command: "b" };
    const { next } = reader(opened, { filter, recent: 1 });

    expect(idIn(await next())).toBe("b");
    expect(opened.stream.recent?.(filter, 5)).toMatchObject([{ id: "b" }]);
    expect(opened.stream.recent?.({ types: ["Som", "S"] }, 5)).toEqual([]);
  });

  test("hides the content of an event that another sender put, because it may hold secrets", async () => {
    const opened = open();
    const detail = { metadata: { commandId: "c1" }, data: { body: { envs: { TOKEN: "hush" } } } };
    for (const origin of ["own", "other", "default"] as const) {
      opened.stream.add(eventOf(origin, detail), origin);
    }

    const [own, ...others] = opened.stream.recent?.({ types: [] }, 3) ?? [];

    expect(own?.event?.detail).toEqual(detail);
    expect(others).toMatchObject([{ commandId: "c1" }, { commandId: "c1", bus: "default" }]);
    expect(JSON.stringify(others)).not.toContain("hush");
  });

  test("names the command of an event, its sender and its bus", async () => {
    const opened = open();
    opened.stream.add(
      eventOf("a", { metadata: { commandId: "c1", sender: "own" }, data: { operation: "op" } }),
      "default",
    );
    opened.stream.add(eventOf("b", { metadata: "of another format" }), "own");
    const { next } = reader(opened, { recent: 2 });

    expect(await next()).toMatchObject({
      event: { type: "Something", commandId: "c1", sender: "own", operation: "op", bus: "default" },
    });
    const other = await next();
    expect(other).toMatchObject({ event: { id: "b", sender: "111122223333" } });
    expect(other).not.toHaveProperty("event.commandId");
  });
});
