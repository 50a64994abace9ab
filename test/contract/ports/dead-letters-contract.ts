import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { DeadLetter, DeadLetters } from "../../../lib/platform/ports/dead-letters.ts";

export interface DeadLettersHarness {
  readonly deadLetters: DeadLetters;
  /** Turns a message of the command queue into a dead letter. Its deduplication id is its body. */
  bury(body: string, groupId: string): Promise<void>;
  /** Receives the available messages of the command queue. */
  received(): Promise<readonly { readonly body: string; readonly groupId: string }[]>;
  remove(): Promise<void>;
}

const bodies = (deadLetters: readonly DeadLetter[]): readonly string[] =>
  deadLetters.map(({ body }) => body).sort();

/** The contract of the dead letters of the command queue, for one adapter. `create` returns an empty list. */
export const describeDeadLettersContract = (
  name: string,
  create: () => Promise<DeadLettersHarness>,
): void => {
  describe(`the dead letters of a command queue (${name})`, () => {
    let harness: DeadLettersHarness;
    let deadLetters: DeadLetters;
    beforeEach(async () => {
      harness = await create();
      deadLetters = harness.deadLetters;
      onTestFinished(harness.remove);
    });

    test("are empty at first", async () => {
      expect(await deadLetters.hold()).toEqual([]);
      expect(await deadLetters.count()).toBe(0);
    });

    test("show body, time of arrival and number of receives", async () => {
      const body = '{"text":"ünï €😀\\n"}\t\r\n';

      await harness.bury(body, "pool/1");

      expect(await deadLetters.hold()).toEqual([
        {
          messageId: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
          queue: "commands",
          body,
          groupId: "pool/1",
          arrivedAt: expect.any(Number),
          receiveCount: expect.any(Number),
          hold: expect.stringMatching(/^\S+$/),
        },
      ]);
    });

    test("are counted whether held or not", async () => {
      await harness.bury("a1", "a");
      await harness.bury("b1", "b");
      expect(await deadLetters.count()).toBe(2);

      await deadLetters.hold();

      expect(await deadLetters.count()).toBe(2);
    });

    test("are handed out once while held, and again after their release", async () => {
      await harness.bury("a1", "a");
      await harness.bury("b1", "b");
      const held = await deadLetters.hold();
      expect(bodies(held)).toEqual(["a1", "b1"]);
      expect(await deadLetters.hold()).toEqual([]);

      await deadLetters.release(held);

      const again = await deadLetters.hold();
      expect(bodies(again)).toEqual(["a1", "b1"]);
      expect(again.map(({ messageId }) => messageId).sort()).toEqual(
        held.map(({ messageId }) => messageId).sort(),
      );
    });

    test("of one group have the order in which they became dead letters", async () => {
      await harness.bury("a1", "a");
      await harness.bury("a2", "a");
      await harness.bury("a3", "a");

      expect((await deadLetters.hold()).map(({ body }) => body)).toEqual(["a1", "a2", "a3"]);
    });

    test("return to their group at once, although the queue has just seen their ids", async () => {
      await harness.bury("a1", "pool/1");
      const [deadLetter] = await deadLetters.hold();

      expect(await deadLetters.sendBack(deadLetter!)).toEqual({ kind: "sent-back" });

      expect(await harness.received()).toEqual([{ body: "a1", groupId: "pool/1" }]);
      expect(await deadLetters.count()).toBe(0);
    });

    test("disappear when deleted, and the others stay", async () => {
      await harness.bury("a1", "a");
      await harness.bury("b1", "b");
      const held = await deadLetters.hold();

      expect(await deadLetters.remove(held.find(({ body }) => body === "a1")!)).toBe("removed");

      await deadLetters.release(held.filter(({ body }) => body === "b1"));
      expect(bodies(await deadLetters.hold())).toEqual(["b1"]);
      expect(await harness.received()).toEqual([]);
    });

    test("can be released without an error after their deletion", async () => {
      await harness.bury("a1", "a");
      const held = await deadLetters.hold();
      await deadLetters.remove(held[0]!);

      await deadLetters.release(held);

      expect(await deadLetters.hold()).toEqual([]);
    });
  });
};
