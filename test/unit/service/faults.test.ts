import { setImmediate as letOthersRun } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { parseFault } from "../../../lib/service/fault-text.ts";
import { createFaults, type FaultsOptions } from "../../../lib/service/faults.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const POOL = "/cloud/v1/lbpools/1/2/pool";
const TASKS = "/cloud/v1/tasks";

/** Faults in front of an app that answers 200 to everything. */
const createStand = (rules: readonly string[], options: Partial<FaultsOptions> = {}) => {
  const clock = createVirtualClock();
  const faults = createFaults({ clock, random: createSeededRandom(), ...options });
  for (const rule of rules) faults.add(parseFault(rule));
  const send = async (method = "PATCH", path = POOL): Promise<string> => {
    const request = new Request(`http://service.test${path}`, { method });
    return faults
      .handle(request, () => Response.json({ is: "whole" }))
      .then(
        async (reply) => {
          const text = await reply.text().catch(() => "cut");
          return text === '{"is":"whole"}' ? "ok" : `${reply.status}`;
        },
        () => "lost",
      );
  };
  const sendMany = async (count: number, ...request: Parameters<typeof send>) => {
    const seen: string[] = [];
    for (let sent = 0; sent < count; sent += 1) seen.push(await send(...request));
    return seen.join(" ");
  };
  return { faults, clock, send, sendMany };
};

describe("a fault rule", () => {
  it("with a count strikes that many requests of its operation", async () => {
    const { sendMany, faults } = createStand(["update-pool=status:2x,code=503"]);

    const seen = [await sendMany(1, "GET"), await sendMany(4), await sendMany(1, "GET", TASKS)];

    expect(seen).toEqual(["ok", "503 503 ok ok", "ok"]);
    expect(faults.list()).toMatchObject([{ id: "fault-1", struck: 2, left: 0 }]);
  });

  it("without a count and a probability strikes until it is removed", async () => {
    const { sendMany, faults } = createStand(["update-pool=lost-reply-before"]);

    const before = await sendMany(3);
    const removed = [faults.remove("fault-1"), faults.remove("fault-1"), faults.remove("other")];
    const after = await sendMany(2);

    expect([before, removed, after]).toEqual(["lost lost lost", [true, false, false], "ok ok"]);
    expect(faults.list()).toEqual([]);
  });

  it("for * strikes every operation, and no other path or method", async () => {
    const { send } = createStand(["*=reset"]);

    const operations = [
      await send(),
      await send("GET"),
      await send("HEAD"),
      await send("GET", TASKS),
    ];
    const others = [
      await send("DELETE"),
      await send("GET", "/docs"),
      await send("GET", "/openapi.json"),
      await send("GET", "/_skyhook/faults"),
      await send("GET", "/unknown"),
    ];

    expect(operations).toEqual(["lost", "lost", "lost", "lost"]);
    expect(others).toEqual(["ok", "ok", "ok", "ok", "ok"]);
  });

  it("strikes every path of its operation", async () => {
    const { send } = createStand(["update-pool=reset", "get-task=reset"]);

    const seen = [
      await send("PATCH", "/cloud/v1/lbpools/1/2/p"),
      await send("PATCH", "/cloud/v2/lbpools/1/2/p"),
      await send("GET", "/v1/tasks/t"),
      await send("GET", "/cloud/v1/tasks/t"),
      await send("GET", TASKS),
    ];

    expect(seen).toEqual(["lost", "lost", "lost", "lost", "ok"]);
  });

  it("added first decides, and later ones follow when it is spent", async () => {
    const { sendMany, faults } = createStand([
      "update-pool=status:1x,code=501",
      "*=status:2x,code=502",
      "update-pool=status:1x,code=503",
    ]);

    expect(await sendMany(5)).toBe("501 502 502 503 ok");
    expect(faults.list().map(({ struck }) => struck)).toEqual([1, 2, 1]);
    faults.clear();
    expect(faults.list()).toEqual([]);
  });
});

describe("a fault rule with a probability", () => {
  const RULE = "update-pool=reset:30%";

  it("strikes about that share of the requests, never in the same pattern for another seed", async () => {
    const { sendMany, faults } = createStand([RULE]);
    const other = createStand([RULE], { seed: 2 });

    const seen = await sendMany(1_000);

    const [state] = faults.list();
    expect(state?.struck).toBeGreaterThan(250);
    expect(state?.struck).toBeLessThan(350);
    expect(seen.match(/lost/g)).toHaveLength(state?.struck ?? 0);
    expect(await other.sendMany(1_000)).not.toBe(seen);
  });

  it("strikes the same requests for the same seed, whatever else is sent and ruled", async () => {
    const { sendMany } = createStand([RULE]);
    const busy = createStand(["get-pool=status:50%", RULE, "*=truncated:1x"]);
    busy.faults.add(parseFault("list-tasks=reset:10%"));

    const alone = await sendMany(100);
    const seen: string[] = [];
    for (let sent = 0; sent < 100; sent += 1) {
      await busy.sendMany(sent % 3, "GET");
      seen.push((await busy.send()) === "lost" ? "lost" : "ok");
      await busy.sendMany(1, "GET", TASKS);
    }

    expect(seen.join(" ")).toBe(alone);
  });

  it("strikes the same requests again after it was removed and added", async () => {
    const { sendMany, faults } = createStand([RULE]);

    const first = await sendMany(50);
    faults.clear();
    faults.add(parseFault(RULE));

    expect(await sendMany(50)).toBe(first);
  });

  it("given twice makes two decisions for a request", async () => {
    const { sendMany, faults } = createStand([RULE, RULE]);

    await sendMany(1_000);

    const [first, second] = faults.list();
    expect(first?.struck).toBeLessThan(350);
    expect(second?.struck).toBeGreaterThan(150);
  });
});

describe("delays", () => {
  /** The virtual durations of requests that are sent one after the other. */
  const durations = async (
    { clock, send }: ReturnType<typeof createStand>,
    count: number,
    ...request: Parameters<ReturnType<typeof createStand>["send"]>
  ) => {
    const measured: number[] = [];
    for (let sent = 0; sent < count; sent += 1) {
      const startedAt = clock.now();
      let endedAt: number | undefined;
      const outcome = send(...request).then(() => {
        endedAt = clock.now();
      });
      while (endedAt === undefined) await clock.advance(1);
      await outcome;
      measured.push(endedAt - startedAt);
    }
    return measured;
  };

  it("of a range differ, stay within it, and are the same for the same seed", async () => {
    const rule = ["update-pool=slow,delay=20ms..0.1s"];
    const first = await durations(createStand(rule), 20);

    expect(new Set(first).size).toBeGreaterThan(5);
    expect(Math.min(...first)).toBeGreaterThanOrEqual(20);
    expect(Math.max(...first)).toBeLessThanOrEqual(101);
    expect(await durations(createStand(rule), 20)).toEqual(first);
  });

  it("of the latency apply to every operation, with or without a fault, and to nothing else", async () => {
    const latency = { fromMs: 30, toMs: 30 };
    const stand = createStand(["list-tasks=status"], { latency });

    expect(await durations(stand, 2)).toEqual([30, 30]);
    expect(await durations(stand, 2, "GET", TASKS)).toEqual([30, 30]);
    expect(await stand.send("GET", "/docs")).toBe("ok");
  });

  it("end when the service stops, without an effect and without a warning", async () => {
    const stop = new AbortController();
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on("warning", note);
    const { faults } = createStand(["update-pool=slow,delay=60s"], { signal: stop.signal });
    let effects = 0;
    const outcomes = Array.from({ length: 12 }, () =>
      faults
        .handle(new Request(`http://service.test${POOL}`, { method: "PATCH" }), () => {
          effects += 1;
          return new Response();
        })
        .catch((error: Error) => error.message),
    );
    // A warning is emitted in a later turn of the event loop.
    await letOthersRun();

    stop.abort();

    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(["fetch failed"]));
    process.off("warning", note);
    expect([effects, warnings]).toEqual([0, []]);
  });
});
