import { describe, expect, it } from "vitest";
import { createEventRecord } from "../../../lib/local/event-record.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const eventOf = (type: string) => ({ "detail-type": type });

type Event = ReturnType<typeof eventOf>;

const open = () => {
  const clock = createVirtualClock();
  const record = createEventRecord<Event>(clock);
  const waitFor = (type: string) =>
    record.waitFor((event): event is Event => event["detail-type"] === type, type, 1_000);
  return { clock, record, waitFor };
};

describe("a wait for an event", () => {
  it("resolves to the first wanted event, of the past or the next", async () => {
    const { record, waitFor } = open();
    const [first, second] = [eventOf("TaskFailed"), eventOf("TaskFailed")];
    const next = waitFor("TaskFailed");
    record.add(eventOf("CommandAccepted"));
    record.add(first);
    record.add(second);

    expect(await next).toBe(first);
    expect(await waitFor("TaskFailed")).toBe(first);
  });

  it("rejects when its time is over, with the types of all events", async () => {
    const { clock, record, waitFor } = open();
    record.add(eventOf("CommandAccepted"));
    const late = expect(waitFor("TaskFailed")).rejects.toThrow(
      "no TaskFailed within 1000 ms; saw 1 events: CommandAccepted",
    );
    await clock.advance(1_000);

    await late;
  });

  it("rejects when the run stops, and afterwards", async () => {
    const { record, waitFor } = open();
    const stopped = "stopped while waiting for TaskFailed; saw no event";
    const waiting = expect(waitFor("TaskFailed")).rejects.toThrow(stopped);
    record.close();

    await waiting;
    await expect(waitFor("TaskFailed")).rejects.toThrow(stopped);
  });

  it("rejects with the error of the caller's check", async () => {
    const { record } = open();
    const wanted = (_event: Event): _event is Event => {
      throw new Error("no such field");
    };
    const waiting = expect(record.waitFor(wanted, "event", 1_000)).rejects.toThrow("no such field");
    record.add(eventOf("TaskFailed"));

    await waiting;
  });
});
