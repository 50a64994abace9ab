import { expect, test } from "vitest";
import { commands } from "../../../../lib/engine/command.ts";
import { recordTasks } from "../../../../lib/engine/follow.ts";
import { tasks } from "../../../../lib/engine/task.ts";
import type { Ledger } from "../../../../lib/platform/ports/ledger.ts";
import { createFaults, type FaultKind } from "../../../support/faults.ts";
import { json, scriptProvider } from "../../../support/provider.ts";
import { updateContainer, updatePool } from "../../../support/requests.ts";
import { createWorld } from "../../../support/world.ts";

const TARGET = "GET /v1/tasks/t1";
const taskIn = (state: string) => () => json(200, { id: "t1", state });

/** Two commands in two lanes; the provider named one task in both replies. */
const start = async () => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    [TARGET]: taskIn("RUNNING"),
  });
  const world = await createWorld({ provider: () => provider });
  await world.handle(updateContainer("c1"));
  await world.handle(updatePool("c2"));
  return { world, provider };
};

test("two commands with the same task both get its end", async () => {
  const { world, provider } = await start();
  await world.pass(20_000);
  provider.answer(TARGET, taskIn("FINISHED"));

  await world.untilQuiet();

  expect(world.publishedTypes("c1")).toEqual([
    "CommandAccepted",
    "TaskFinished",
    "CommandSucceeded",
  ]);
  expect(world.publishedTypes("c2")).toEqual([
    "CommandAccepted",
    "TaskFinished",
    "CommandSucceeded",
  ]);
  const ends = world.bus.published().filter(({ detailType }) => detailType === "TaskFinished");
  expect(new Set(ends.map(({ id }) => id)).size).toBe(2);
});

test("a command with a task that has already ended gets the end too", async () => {
  const { world, provider } = await start();
  provider.answer(TARGET, taskIn("FINISHED"));
  await world.untilQuiet();

  await world.handle(updateContainer("c3"));
  await world.untilQuiet();

  expect(world.publishedTypes("c3")).toEqual([
    "CommandAccepted",
    "TaskFinished",
    "CommandSucceeded",
  ]);
});

test("the task belongs to the first of them, however often the second records it", async () => {
  const { world } = await start();
  const command = await commands.read(world.ledger, "own/c2");
  const again = { status: "following" as const, tasks: [{ id: "t1" }], tasksRecorded: false };

  await recordTasks(world.newInvocation().deps, {
    version: command!.version,
    value: { ...command!.value, state: again },
  });

  const first = await world.ledger.read("task#local/t1");
  expect(first?.value).toMatchObject({ command: "own/c1", sharedAs: "first" });
  const other = await world.ledger.read("task#local/t1/own/c2");
  expect(other?.value).toMatchObject({ command: "own/c2", sharedAs: "other" });
  expect(other?.version).toBe(1);
});

test("a write conflict on the task of the second command leads to another read", async () => {
  const { world } = await start();
  const command = await commands.read(world.ledger, "own/c2");
  const again = { status: "following" as const, tasks: [{ id: "t2" }], tasksRecorded: false };
  const { deps } = world.newInvocation();
  await tasks.write(world.ledger, "local/t2", undefined, {
    account: "local",
    id: "t2",
    command: "own/c1",
    operation: "update-container",
    deadline: world.clock.now(),
    recordedAt: world.clock.now(),
    lookAt: world.clock.now(),
    state: { status: "open" },
  });
  let conflicts = 1;
  const ledger: Ledger = {
    ...deps.ledger,
    write: async (item) => {
      const isOther = item.key.endsWith("t2/own/c2");
      return isOther && conflicts-- > 0 ? "conflict" : deps.ledger.write(item);
    },
  };

  await recordTasks(
    { ...deps, ledger },
    {
      version: command!.version,
      value: { ...command!.value, state: again },
    },
  );

  expect((await world.ledger.read("task#local/t2/own/c2"))?.value).toMatchObject({
    sharedAs: "other",
  });
});

/** Runs both commands to their end, with one fault on the way. */
const runWith = async (fault?: { readonly nth: number; readonly kind: FaultKind }) => {
  const faults = createFaults();
  if (fault) faults.strike(fault.nth, fault.kind);
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    [TARGET]: taskIn("FINISHED"),
  });
  const world = await createWorld({ provider: () => provider, around: faults.around });
  for (const id of ["c1", "c2"]) {
    const params = { project_id: 1, region_id: 1, container_name: id };
    await world.send(updateContainer(id, {}, { params }));
  }
  await world.untilQuiet();
  return { world, faults };
};

test.each<[FaultKind]>([["killed"], ["fails before"], ["fails after"]])(
  "both commands get the end when any one write is %s",
  async (kind) => {
    const { faults } = await runWith();
    const writes = faults.calls.flatMap((call, index) =>
      call.startsWith("ledger.write") ? [index + 1] : [],
    );

    for (const nth of writes) {
      const { world } = await runWith({ nth, kind });

      for (const id of ["c1", "c2"]) {
        expect(new Set(world.publishedTypes(id))).toEqual(
          new Set(["CommandAccepted", "TaskFinished", "CommandSucceeded"]),
        );
      }
    }
  },
);
