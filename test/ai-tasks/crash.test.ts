import { expect, test } from "vitest";
import type { AiTaskRecord } from "../../lib/service/state/state.ts";
import { createFaults, type FaultKind } from "../support/faults.ts";
import { aiTask, aiTasksOf, idOf } from "./ai-provider.ts";
import { watchedWorld } from "./start-watching.ts";

const MINUTE = 60_000;
const WAITING = { started_at: null };

/** What the provider lists at each step. */
const STEPS: readonly { readonly afterMs: number; readonly tasks: readonly AiTaskRecord[] }[] = [
  {
    afterMs: 0,
    tasks: [...aiTasksOf(1, 4, "SUCCESS"), ...aiTasksOf(5, 7, "STARTED")],
  },
  {
    // 5 ends, 6 is gone; more than a page is new, and has ended or not.
    afterMs: MINUTE,
    tasks: [
      ...aiTasksOf(1, 5, "SUCCESS"),
      aiTask(7, "STARTED"),
      aiTask(8, "SUCCESS"),
      aiTask(9, "STARTED"),
      aiTask(10, "SUCCESS"),
      aiTask(11, "PENDING", WAITING),
      aiTask(12, "REVOKED", WAITING),
    ],
  },
  {
    afterMs: 6 * MINUTE,
    tasks: [
      ...aiTasksOf(1, 5, "SUCCESS"),
      aiTask(7, "FAILURE"),
      ...aiTasksOf(8, 10, "SUCCESS"),
      aiTask(11, "STARTED"),
      aiTask(12, "REVOKED", WAITING),
    ],
  },
];
const ENDED = [5, 7, 8, 9, 10, 12].map(idOf);

const runCourse = async (fault?: { nth: number; kind: FaultKind }) => {
  const faults = createFaults();
  if (fault) faults.strike(fault.nth, fault.kind);
  const { world, provider } = watchedWorld([], faults.around);
  provider.capPages(3);
  const errors: unknown[] = [];
  for (const { afterMs, tasks } of STEPS) {
    await world.clock.advance(afterMs);
    provider.show(tasks);
    errors.push(await world.run());
    // Until there is a baseline, nothing is promised. The lease of a run that died lasts a minute.
    if (afterMs === 0) {
      await world.clock.advance(MINUTE);
      errors.push(await world.run());
    }
  }
  // Any run may have been cut off, and what is gone is missing at three looks first.
  for (let again = 1; again <= 3; again++) {
    await world.clock.advance(6 * MINUTE);
    errors.push(await world.run());
  }
  await world.poll();
  return { world, faults, errors: errors.filter((error) => error !== undefined) };
};

type Course = Awaited<ReturnType<typeof runCourse>>;

const expectSoundEnd = async ({ world }: Course): Promise<void> => {
  const events = world.published();
  const idsOf = (detailType: string) => {
    const found = events.filter((event) => event.detailType === detailType);
    return [...new Set(found.map(({ id, data }) => `${data.taskId} ${id}`))].sort();
  };
  expect(idsOf("AiTaskEnded").map((text) => text.slice(0, 36))).toEqual(ENDED);
  expect(idsOf("AiTaskVanished").map((text) => text.slice(0, 36))).toEqual([idOf(6)]);
  const watch = await world.watchRecord();
  expect(watch?.open.map(({ taskId }) => taskId)).toEqual([idOf(11)]);
  expect(await world.ledger.listDue(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
};

const isRead = (call: string | undefined): boolean => call?.startsWith("ledger.read") ?? false;

/** Reading changes nothing, so one read stands for those that follow it. */
const applies = (kind: FaultKind, call: string, previous: string | undefined): boolean => {
  if (isRead(call)) return !isRead(previous) && !kind.endsWith("half-way");
  return !kind.endsWith("half-way") || call === "bus.publish";
};

test("every end is told once when nothing goes wrong", async () => {
  const course = await runCourse();

  await expectSoundEnd(course);
  expect(course.errors).toEqual([]);
  expect(course.world.published()).toHaveLength(7);
});

test.each(["killed", "killed half-way", "fails before", "fails after", "fails half-way"] as const)(
  "every end is told with one id, and none is lost, when any one call of a port is %s",
  async (kind) => {
    const { faults: clean } = await runCourse();
    const calls = clean.calls.flatMap((call, index) =>
      applies(kind, call, clean.calls[index - 1]) ? [{ nth: index + 1, call }] : [],
    );

    for (const { nth, call } of calls) {
      const course = await runCourse({ nth, kind });
      await expectSoundEnd(course).catch((error: unknown) => {
        throw new Error(`${kind} at call ${nth}, ${call}`, { cause: error });
      });
    }
  },
);
