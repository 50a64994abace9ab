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

const bodies = (letters: readonly DeadLetter[]): readonly string[] =>
  letters.map(({ body }) => body).sort();

/** The contract of the dead letters of the command queue, for one adapter. `create` returns an empty list. */
export const describeDeadLettersContract = (
  name: string,
  create: () => Promise<DeadLettersHarness>,
): void => {
  describe(`the dead letters of a command queue (${name})`, () => {
    let harness: DeadLettersHarness;
    let letters: DeadLetters;
    beforeEach(async () => {
      harness = await create();
      letters = harness.deadLetters;
      onTestFinished(harness.remove);
    });

    test("are empty at first", async () => {
      expect(await letters.hold()).toEqual([]);
      expect(await letters.count()).toBe(0);
    });

    test("show body, time of arrival and number of receives", async () => {
      const body = '{"text":"ünï €😀\\n"}\t\r\n';

      await harness.bury(body, "pool/1");

      expect(await letters.hold()).toEqual([
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
      expect(await letters.count()).toBe(2);

      await letters.hold();

      expect(await letters.count()).toBe(2);
    });

    test("are handed out once while held, and again after their release", async () => {
      await harness.bury("a1", "a");
      await harness.bury("b1", "b");
      const held = await letters.hold();
      expect(bodies(held)).toEqual(["a1", "b1"]);
      expect(await letters.hold()).toEqual([]);

      await letters.release(held);

      const again = await letters.hold();
      expect(bodies(again)).toEqual(["a1", "b1"]);
      expect(again.map(({ messageId }) => messageId).sort()).toEqual(
        held.map(({ messageId }) => messageId).sort(),
      );
    });

    test("of one group have the order in which they became dead letters", async () => {
      await harness.bury("a1", "a");
      await harness.bury("a2", "a");
      await harness.bury("a3", "a");

      expect((await letters.hold()).map(({ body }) => body)).toEqual(["a1", "a2", "a3"]);
    });

    test("return to their group at once, although the queue has just seen their ids", async () => {
      await harness.bury("a1", "pool/1");
      const [letter] = await letters.hold();

      expect(await letters.sendBack(letter!)).toEqual({ kind: "sent-back" });

      expect(await harness.received()).toEqual([{ body: "a1", groupId: "pool/1" }]);
      expect(await letters.count()).toBe(0);
    });

    test("disappear when deleted, and the others stay", async () => {
      await harness.bury("a1", "a");
      await harness.bury("b1", "b");
      const held = await letters.hold();

      expect(await letters.remove(held.find(({ body }) => body === "a1")!)).toBe("removed");

      await letters.release(held.filter(({ body }) => body === "b1"));
      expect(bodies(await letters.hold())).toEqual(["b1"]);
      expect(await harness.received()).toEqual([]);
    });

    test("can be released without an error after their deletion", async () => {
      await harness.bury("a1", "a");
      const held = await letters.hold();
      await letters.remove(held[0]!);

      await letters.release(held);

      expect(await letters.hold()).toEqual([]);
    });
  });
};
