import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { updateContainer } from "../../../lib/contract/containers.ts";
import { createStorageEvent, updateStorageEvent } from "../../../lib/contract/storage-events.ts";
import * as machine from "../../../lib/engine/lane.ts";
import { groupIdOf } from "../../../lib/engine/lane.ts";
import { laneIdOf } from "../../../lib/engine/request.ts";

type Lane = machine.Lane;

/** A model of a lane: a queue, of which the first is served. */
interface Model {
  readonly line: readonly string[];
}

const KEYS = ["a", "b", "c", "d", "e"];
const move = fc.record({
  kind: fc.constantFrom("enter", "leave", "confirm", "renew"),
  key: fc.constantFrom(...KEYS),
});

/** @param ended keys of commands that have ended; default: none that holds the lane */
const apply = (
  lane: Lane | undefined,
  { kind, key }: { kind: string; key: string },
  now: number,
  ended: ReadonlySet<string> = new Set(),
) => {
  const { holder = "" } = lane ?? {};
  if (kind === "enter")
    return machine.enterLane(lane, key, now, ended.has(holder) ? holder : undefined);
  if (kind === "leave") return machine.leaveLane(lane, key, now);
  if (lane === undefined) return undefined;
  return kind === "confirm" ? machine.confirmHolder(lane, key) : machine.renewGrant(lane, key, now);
};

/** The commands of the lane that have not ended, in order. */
const lineOf = (lane: Lane | undefined, ended: ReadonlySet<string>): readonly string[] => {
  const { holder, waiting = [] } = lane ?? {};
  return holder === undefined || ended.has(holder) ? waiting : [holder, ...waiting];
};

const lineAfter = ({ line }: Model, { kind, key }: { kind: string; key: string }) => {
  if (kind === "leave") return line.filter((other) => other !== key);
  return kind === "enter" && !line.includes(key) ? [...line, key] : line;
};

test("a lane is a queue: one runs, all keep their order, none is lost or duplicated", () => {
  void fc.assert(
    fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
      let lane: Lane | undefined;
      let model: Model = { line: [] };
      const ended = new Set<string>();
      for (const [index, next] of moves.entries()) {
        lane = apply(lane, next, 1_000 + index, ended);
        if (next.kind === "leave") ended.add(next.key);
        if (next.kind === "enter") ended.delete(next.key);
        model = { line: lineAfter(model, next) };
        expect(lineOf(lane, ended)).toEqual(model.line);
        expect(lane?.holder === undefined && (lane?.waiting.length ?? 0) > 0).toBe(false);
      }
    }),
  );
});

/** Each renewal postpones the next check further. */
const repeatable = move.filter(({ kind }) => kind !== "renew");

test("entering twice equals entering once, and leaving twice equals leaving once", () => {
  void fc.assert(
    fc.property(fc.array(move, { maxLength: 20 }), repeatable, (moves, last) => {
      let lane: Lane | undefined;
      for (const next of moves) lane = apply(lane, next, 1_000);
      const once = apply(lane, last, 2_000);

      const twice = apply(once, last, 2_000);

      expect(twice).toEqual(once);
    }),
  );
});

test("every holder that the lane passed to is checked after 30 seconds until it is seen active", () => {
  void fc.assert(
    fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
      let lane: Lane | undefined;
      for (const [index, next] of moves.entries()) {
        const now = 1_000 + index;
        const before = lane?.holder;
        lane = apply(lane, next, now);
        const isNew = lane?.holder !== undefined && lane.holder !== before;
        const isGranted = isNew && before !== undefined;
        if (isNew) expect(machine.lanes.dueAt(lane!)).toBe(isGranted ? now + 30_000 : undefined);
        if (lane && lane.holder === undefined) {
          expect(machine.lanes.dueAt(lane)).toBeUndefined();
        }
      }
    }),
  );
});

test("the last holder stays in the lane without an entry in the due index", () => {
  const entered = machine.enterLane(undefined, "a", 1_000);

  const left = machine.leaveLane(entered, "a", 2_000);

  expect(left).toBe(entered);
  expect(machine.lanes.dueAt(left)).toBeUndefined();
});

test("the last holder leaves a lane that is due for its sake", () => {
  const granted = machine.leaveLane({ holder: "a", waiting: ["b"], changedAt: 1 }, "a", 1_000);

  const left = machine.leaveLane(granted, "b", 2_000);

  expect(left).toEqual({ waiting: [], changedAt: 2_000 });
});

test("a command behind others does not pass them when the holder has ended", () => {
  const lane: Lane = { holder: "a", waiting: ["b"], changedAt: 1, checkAt: 5 };

  const entered = machine.enterLane(lane, "c", 2_000, "a");

  expect(entered).toEqual({ ...lane, waiting: ["b", "c"] });
});

test("a holder that entered a free lane is checked only once another command waits", () => {
  const entered = machine.enterLane(undefined, "a", 1_000);
  const behind = machine.enterLane(entered, "b", 2_000);

  expect(machine.lanes.dueAt(entered)).toBeUndefined();
  expect(machine.lanes.dueAt(behind)).toBe(32_000);
  expect(machine.lanes.dueAt(machine.confirmHolder(behind, "a"))).toBeUndefined();
});

test("a full lane accepts no command, and stays as it is", () => {
  const waiting = Array.from({ length: 500 }, (_, index) => `w${index}`);
  const full: Lane = { holder: "h", waiting, changedAt: 1 };

  const after = [machine.enterLane(full, "new", 2), machine.enterLane(full, "w7", 2)];

  expect(machine.isFull(full)).toBe(true);
  expect(after).toEqual([full, full]);
});

test("neither a lane with 499 waiting commands nor one that does not exist is full", () => {
  const waiting = Array.from({ length: 499 }, (_, index) => `w${index}`);

  expect(machine.isFull({ holder: "h", waiting, changedAt: 1 })).toBe(false);
  expect(machine.isFull(undefined)).toBe(false);
});

const containerLane = (container_name: string, account = "local") =>
  laneIdOf(updateContainer, account, {
    params: { project_id: 1, region_id: 2, container_name },
    query: {},
  });
const eventRequest = (body: Record<string, string>, query = {}) => ({
  params: {},
  query,
  body: { name: "reaching_used_space", ...body },
});

describe("the lane of a command", () => {
  test("is named by account, kind of resource and the fields that identify it", () => {
    expect(containerLane("web")).toBe("local/container/1/2/web");
  });

  test("keeps names apart that contain the separator", () => {
    expect(containerLane("a/b")).toBe("local/container/1/2/a%2Fb");
  });

  test("differs between accounts", () => {
    expect(containerLane("web", "other")).not.toBe(containerLane("web"));
  });

  test("is the same for creating and updating one storage event", () => {
    const request = eventRequest({ storage_name: "s", bucket_name: "b", bytes: "1" });

    expect(laneIdOf(createStorageEvent, "local", request)).toBe(
      laneIdOf(updateStorageEvent, "local", { ...request, body: { ...request.body, bytes: "2" } }),
    );
  });

  test("is the same for an absent and an empty name", () => {
    expect(laneIdOf(createStorageEvent, "local", eventRequest({ storage_name: "" }))).toBe(
      laneIdOf(createStorageEvent, "local", eventRequest({})),
    );
  });

  test("differs between clients", () => {
    expect(laneIdOf(createStorageEvent, "local", eventRequest({}, { client_id: 7 }))).not.toBe(
      laneIdOf(createStorageEvent, "local", eventRequest({})),
    );
  });
});

describe("the message group of a lane", () => {
  test("is the lane itself if SQS accepts it", () => {
    const lane = "l".repeat(128);

    expect(groupIdOf(lane)).toBe(lane);
  });

  test("is a hash of a longer lane", () => {
    expect(groupIdOf("l".repeat(129))).toMatch(/^[0-9a-f]{64}$/);
    expect(groupIdOf("l".repeat(129))).not.toBe(groupIdOf("l".repeat(130)));
  });
});
