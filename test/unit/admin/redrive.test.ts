import { describe, expect, test } from "vitest";
import { redriveDeadLetters } from "../../../lib/admin/dead-letters.ts";
import { groupIdOf } from "../../../lib/engine/lane.ts";
import { resumeMessage } from "../../../lib/engine/queue-message.ts";
import type { DeadLetters } from "../../../lib/platform/ports/dead-letters.ts";
import { createRouter, resumeInstance, updatePolicy } from "../../support/requests.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import type { World } from "../../support/world.ts";
import { buryAll, openRecovery } from "./dead-letter-world.ts";

const random = createSeededRandom(3);

/** Sends back without deleting, as a program that is killed between the two calls. */
const killedBetween = (world: World, deadLetters: DeadLetters): DeadLetters => ({
  ...deadLetters,
  async sendBack({ body, groupId = "" }) {
    await world.queue.send({ body, groupId, deduplicationId: random.uuid() });
    throw new Error("killed");
  },
});

describe("redrive", () => {
  test("runs a request that was never accepted, once", async () => {
    const { world, deps, idOf, deadLetters } = await openRecovery();
    await world.send(createRouter("r1"));
    await buryAll(world);
    const messageId = await idOf();

    const outcomes = await redriveDeadLetters(deps, { kind: "ids", ids: [messageId] });
    await world.untilQuiet();

    expect(outcomes).toEqual([
      {
        messageId,
        outcome: "sent-back",
        what: "a request that was sent to the queue directly",
        why: "runs it",
      },
    ]);
    expect(world.publishedTypes("r1")).toEqual([
      "CommandAccepted",
      "TaskFinished",
      "CommandSucceeded",
    ]);
    expect(await deadLetters.count()).toBe(0);
  });

  test("finds a dead letter to send back behind a hundred that are kept", async () => {
    const { world, deps } = await openRecovery();
    for (let n = 0; n < 110; n += 1) await world.send("{");
    await world.send(updatePolicy("p1"));
    for (let round = 0; round < 12; round += 1) await buryAll(world);

    const outcomes = await redriveDeadLetters(deps, { kind: "all" });

    expect(outcomes.filter(({ outcome }) => outcome === "kept")).toHaveLength(110);
    expect(outcomes.at(-1)).toMatchObject({ outcome: "sent-back", why: "runs it" });
  });

  test("continues after one with a command that cannot be read now", async () => {
    const { world, deps } = await openRecovery();
    await world.send(updatePolicy("p1"));
    await world.send(updatePolicy("p2"));
    await buryAll(world);
    const context = () => {
      const found = deps.context();
      const read = (key: string) =>
        key.endsWith("/p1") ? Promise.reject(new TypeError("throttled")) : found.ledger.read(key);
      return { ...found, ledger: { ...found.ledger, read } };
    };

    const outcomes = await redriveDeadLetters({ ...deps, context }, { kind: "all" });

    expect(outcomes).toMatchObject([
      { outcome: "failed", why: "TypeError" },
      { outcome: "sent-back", why: "runs it" },
    ]);
    expect(outcomes[0]).not.toHaveProperty("what");
  });

  test("releases only the dead letters that it kept", async () => {
    const { world, deps, idOf } = await openRecovery();
    await world.send("{");
    await world.send(updatePolicy("p1"));
    await buryAll(world);
    const keptId = await idOf();
    const released: string[] = [];
    const deadLetters: DeadLetters = {
      ...deps.deadLetters,
      async release(letters) {
        released.push(...letters.map(({ messageId }) => messageId));
      },
    };

    await redriveDeadLetters({ ...deps, deadLetters }, { kind: "all" });

    expect(released).toEqual([keptId]);
  });

  test("that is killed between the two queues and repeated creates one router", async () => {
    const { world, deps, deadLetters, newRouters } = await openRecovery();
    await world.send(createRouter("r1"));
    await buryAll(world);
    const killed = { ...deps, deadLetters: killedBetween(world, deadLetters) };
    expect(await redriveDeadLetters(killed, { kind: "all" })).toMatchObject([
      { outcome: "failed", why: "Error" },
    ]);
    await world.untilQuiet();
    expect(await deadLetters.count()).toBe(1);

    const again = await redriveDeadLetters(deps, { kind: "all" });
    await world.untilQuiet();

    expect(again).toMatchObject([
      { outcome: "kept", why: expect.stringMatching(/^in the ledger: ended .* as succeeded$/) },
    ]);
    expect(world.publishedTypes("r1")).toEqual([
      "CommandAccepted",
      "TaskFinished",
      "CommandSucceeded",
    ]);
    expect(await newRouters()).toHaveLength(1);
  });

  test("by id of a request that was accepted meanwhile publishes nothing again", async () => {
    const { world, deps, idOf } = await openRecovery();
    await world.send(createRouter("r1"));
    await buryAll(world);
    await world.send(createRouter("r1"));
    await world.untilQuiet();
    const before = await world.command("r1");

    const outcomes = await redriveDeadLetters(deps, { kind: "ids", ids: [await idOf()] });
    await world.untilQuiet();

    expect(outcomes).toMatchObject([{ outcome: "sent-back", why: "changes nothing" }]);
    expect(await world.command("r1")).toEqual(before);
    expect(world.publishedTypes("r1")).toEqual([
      "CommandAccepted",
      "TaskFinished",
      "CommandSucceeded",
    ]);
  });

  test("of a resume message for an ended command changes nothing", async () => {
    const { world, deps, idOf } = await openRecovery();
    await world.send(resumeInstance("i1"));
    await world.untilQuiet();
    const before = await world.command("i1");
    await world.queue.send(resumeMessage("own/i1", before?.lane ?? "", random));
    await buryAll(world);

    await redriveDeadLetters(deps, { kind: "ids", ids: [await idOf()] });
    await world.untilQuiet();

    expect(await world.command("i1")).toEqual(before);
    expect(world.publishedTypes("i1")).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  test("keeps the message group, so that commands of one lane stay in order", async () => {
    const { world, deps } = await openRecovery();
    await world.send(updatePolicy("p1"));
    await buryAll(world);

    await redriveDeadLetters(deps, { kind: "all" });

    const [message] = await world.queue.receive(10, 60_000);
    expect(message?.attributes.MessageGroupId).toBe(groupIdOf("local/policy/1234567/76/1"));
  });

  test("of all sends back the recommended ones, with a reason for each kept one", async () => {
    const { world, deps, deadLetters } = await openRecovery();
    await world.send(updatePolicy("p1"));
    await world.send("{");
    await world.queue.send(resumeMessage("own/gone", "local/policy/1", random));
    await buryAll(world);

    const outcomes = await redriveDeadLetters(deps, { kind: "all" });

    expect(outcomes).toMatchObject([
      { outcome: "sent-back" },
      { outcome: "kept", why: "no command" },
      { outcome: "kept", why: "its command is not in the ledger; the ledger may have deleted it" },
    ]);
    expect(await deadLetters.count()).toBe(2);
  });

  test("of all covers more dead letters than one hold returns", async () => {
    const { world, deps, deadLetters } = await openRecovery();
    for (let n = 0; n < 25; n += 1) await world.send(updatePolicy(`p${n}`));
    for (let round = 0; round < 3; round += 1) await buryAll(world);

    const outcomes = await redriveDeadLetters(deps, { kind: "all" });

    expect(outcomes).toHaveLength(25);
    expect(await deadLetters.count()).toBe(0);
  });

  test("never sends back a request that may have run and been deleted, not even by id", async () => {
    const { world, deps, idOf, deadLetters } = await openRecovery();
    await world.send(createRouter("r1"));
    await buryAll(world);
    await world.clock.advance(31 * 24 * 3_600_000);

    const outcomes = await redriveDeadLetters(deps, { kind: "ids", ids: [await idOf()] });

    expect(outcomes).toMatchObject([{ outcome: "kept" }]);
    expect(await deadLetters.count()).toBe(1);
  });

  test("reports ids without a dead letter, and processes the others", async () => {
    const { world, deps, idOf } = await openRecovery();
    await world.send(updatePolicy("p1"));
    await buryAll(world);
    const known = await idOf();

    const outcomes = await redriveDeadLetters(deps, { kind: "ids", ids: ["unknown", known] });

    expect(outcomes).toMatchObject([
      { messageId: known, outcome: "sent-back" },
      { messageId: "unknown", outcome: "not-found" },
    ]);
  });

  test("continues with the others when one fails, and releases that one", async () => {
    const { world, deps, deadLetters } = await openRecovery();
    await world.send(updatePolicy("p1"));
    await world.send(updatePolicy("p2"));
    await buryAll(world);
    const failingOnce: DeadLetters = {
      ...deadLetters,
      sendBack: (letter) =>
        letter.body.includes('"p1"')
          ? Promise.reject(new Error("not taken"))
          : deadLetters.sendBack(letter),
    };

    const outcomes = await redriveDeadLetters(
      { ...deps, deadLetters: failingOnce },
      { kind: "all" },
    );

    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["failed", "sent-back"]);
    expect(await deadLetters.hold()).toHaveLength(1);
  });
});
