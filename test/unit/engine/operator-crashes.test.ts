import { describe, expect, test } from "vitest";
import { cancelCommand, resolveCommand } from "../../../lib/admin/operator-actions.ts";
import { commandKey, commands, isEnded } from "../../../lib/engine/command.ts";
import { finishCommand } from "../../../lib/engine/finish.ts";
import { openInLane } from "../../support/commands.ts";
import { createFaults, type FaultKind } from "../../support/faults.ts";
import { connectionLost, json, type SeenRequest, scriptProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const KINDS = [
  "killed",
  "killed half-way",
  "fails before",
  "fails after",
  "fails half-way",
] as const satisfies readonly FaultKind[];

interface Strike {
  /** From the operator's first action on. */
  readonly nth: number;
  readonly kind: FaultKind;
}

/** The operator's actions as a local run's gateway performs them: the write, then its consequences at once. */
const act = async (
  world: World,
  id: string,
  write: (deps: Parameters<typeof finishCommand>[0], key: string) => Promise<unknown>,
): Promise<void> => {
  const { deps } = world.newInvocation();
  const key = commandKey({ sender: "own", id });
  await write(deps, key);
  const stored = await commands.read(deps.ledger, key);
  if (stored && isEnded(stored.value) && !stored.value.state.settled)
    await finishCommand(deps, stored);
};

/** An operator repeats an action that fails or dies. */
const actUntilDone = async (act: () => Promise<void>): Promise<void> => {
  await act().catch(() => act());
};

/** The container is locked until the first command has ended. */
const lockedForFirst = () =>
  scriptProvider({
    "PATCH /cloud/v1/caas/": ({ body }: SeenRequest) =>
      body.description === "first" ? json(409, {}) : json(200, { tasks: [] }),
  });

const runCancel = async (strike?: Strike) => {
  const faults = createFaults();
  const world = await createWorld({ provider: lockedForFirst, around: faults.around });
  await world.send(requests.updateContainer("first"));
  await world.send(requests.updateContainer("next"));
  await world.send(requests.updatePolicyWith("dependant", { after: ["first"] }));
  await world.deliver();
  const before = faults.calls.length;
  if (strike) faults.strike(before + strike.nth, strike.kind);

  await actUntilDone(() => act(world, "first", cancelCommand));
  await world.untilQuiet();
  return { world, calls: faults.calls.slice(before) };
};

const runResolve = async (strike?: Strike) => {
  const faults = createFaults();
  const world = await createWorld({
    provider: () => scriptProvider({ "POST /cloud/v1/routers/": () => connectionLost() }),
    accounts: { local: { canList: false } },
    around: faults.around,
  });
  await world.send(requests.createRouter("first"));
  await world.untilQuiet();
  const before = faults.calls.length;
  if (strike) faults.strike(before + strike.nth, strike.kind);

  const finding = { applied: true, note: "seen" };
  await actUntilDone(() => act(world, "first", (deps, key) => resolveCommand(deps, key, finding)));
  await world.untilQuiet();
  return { world, calls: faults.calls.slice(before) };
};

/** The events of each command, each fact once, in order. */
const factsOf = (world: World, id: string): readonly string[] => {
  const events = world.bus.published().filter(({ metadata }) => metadata.commandId === id);
  const distinct = events.filter(
    (event, index) => events.findIndex((other) => other.id === event.id) === index,
  );
  return distinct.map(({ detailType }) => detailType);
};

const expectAtRest = async (world: World): Promise<void> => {
  expect(await world.dueEntries()).toEqual([]);
  expect(world.queue.deadLetters()).toEqual([]);
  for (const id of ["first", "next", "dependant"]) {
    const command = await world.command(id);
    if (!command) continue;
    expect(command).toMatchObject({ outbox: [], state: { settled: true } });
    expect(await openInLane(world.ledger, command.lane)).toEqual([]);
  }
};

const expectCancelled = async (world: World): Promise<void> => {
  expect(factsOf(world, "first")).toEqual(["CommandAccepted", "CommandCancelled"]);
  expect(factsOf(world, "next")).toEqual(["CommandAccepted", "CommandSucceeded"]);
  expect(factsOf(world, "dependant")).toEqual(["CommandAccepted", "CommandCancelled"]);
  await expectAtRest(world);
};

const expectResolved = async (world: World): Promise<void> => {
  expect(factsOf(world, "first")).toEqual(["CommandAccepted", "CommandFailed", "CommandResolved"]);
  expect((await world.command("first"))?.resolution).toMatchObject({ applied: true, note: "seen" });
  await expectAtRest(world);
};

const isRead = (call: string | undefined): boolean =>
  call !== undefined && /^ledger\.(read|listDue)/.test(call);

/** A read changes nothing, so one is enough for all; only a bus can accept part of a call. */
const applies = (kind: FaultKind, call: string, previous: string | undefined): boolean => {
  if (isRead(call)) return kind === "killed" && !isRead(previous);
  return !kind.endsWith("half-way") || call === "bus.publish";
};

describe.each([
  ["stops a command", runCancel, expectCancelled],
  ["resolves an unknown outcome", runResolve, expectResolved],
] as const)("an operator who %s", (_what, run, expectEnd) => {
  test("leaves the expected state when no call fails", async () => {
    const { world } = await run();

    await expectEnd(world);
    expect(world.errors).toEqual([]);
  });

  test.each(KINDS)("leaves the same state when any single call of a port is %s", async (kind) => {
    const { calls } = await run();

    for (const [index, call] of calls.entries()) {
      if (!applies(kind, call, calls[index - 1])) continue;
      const { world } = await run({ nth: index + 1, kind });
      try {
        await expectEnd(world);
      } catch (error) {
        throw new Error(`${kind} at call ${index + 1}, ${call}`, { cause: error });
      }
    }
  });
});
