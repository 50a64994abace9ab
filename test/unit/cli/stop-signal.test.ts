import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { stopSignal, untilAborted } from "../../../lib/cli/stop-signal.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

describe("the stop signal", () => {
  const kills: unknown[][] = [];
  const mine = () => [...process.listeners("SIGINT"), ...process.listeners("SIGTERM")];
  let before: readonly NodeJS.SignalsListener[];

  beforeEach(() => {
    kills.length = 0;
    before = mine();
    vi.spyOn(process, "kill").mockImplementation((...args) => {
      kills.push(args);
      return true;
    });
  });

  afterEach(() => {
    for (const listener of mine().filter((each) => !before.includes(each))) {
      process.off("SIGINT", listener);
      process.off("SIGTERM", listener);
    }
    vi.restoreAllMocks();
  });

  it.each(["SIGINT", "SIGTERM"] as const)("aborts at the first %s", async (name) => {
    const signal = stopSignal(createVirtualClock());
    const stopped = untilAborted(signal);

    process.emit(name, name);
    await stopped;

    expect(signal.aborted).toBe(true);
    expect(kills).toEqual([]);
  });

  it("counts a Ctrl-C from both the terminal and npm once", async () => {
    const clock = createVirtualClock();
    stopSignal(clock);

    process.emit("SIGINT", "SIGINT");
    await clock.advance(499);
    process.emit("SIGINT", "SIGINT");

    expect(kills).toEqual([]);
  });

  it("lets a second signal end the process", async () => {
    const clock = createVirtualClock();
    stopSignal(clock);

    process.emit("SIGINT", "SIGINT");
    await clock.advance(500);
    process.emit("SIGTERM", "SIGTERM");

    expect(kills).toEqual([[process.pid, "SIGTERM"]]);
    expect(mine()).toEqual(before);
  });
});
