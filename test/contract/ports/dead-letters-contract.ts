import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { DeadLetter, DeadLetters } from "../../../lib/platform/ports/dead-letters.ts";

export interface DeadLettersHarness {
  readonly deadLetters: DeadLetters;
  /** Sends a message to the command queue, under its body as deduplication id, and lets it end as a dead letter. */
  bury(body: string, groupId: string): Promise<void>;
  /** What the command queue hands out now. */
  received(): Promise<readonly { readonly body: string; readonly groupId: string }[]>;
  remove(): Promise<void>;
}

const bodies = (letters: readonly DeadLetter[]): readonly string[] =>
  letters.map(({ body }) => body).sort();

/** Every law of the dead letters of the command queue, for one adapter. `create` gives none of them. */
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

    test("are none at first", async () => {
      expect(await letters.hold()).toEqual([]);
      expect(await letters.count()).toBe(0);
    });

    test("show what was sent, when it came, and how often it was received", async () => {
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

    test("are counted, held or not", async () => {
      await harness.bury("a1", "a");
      await harness.bury("b1", "b");
      expect(await letters.count()).toBe(2);

      await letters.hold();

      expect(await letters.count()).toBe(2);
    });

    test("are handed out once while they are held, and again when they are released", async () => {
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

    test("of one group come in the order in which they were buried", async () => {
      await harness.bury("a1", "a");
      await harness.bury("a2", "a");
      await harness.bury("a3", "a");

      expect((await letters.hold()).map(({ body }) => body)).toEqual(["a1", "a2", "a3"]);
    });

    test("go back into their group at once, although the queue has just seen their ids", async () => {
      await harness.bury("a1", "pool/1");
      const [letter] = await letters.hold();

      expect(await letters.sendBack(letter!)).toEqual({ kind: "sent-back" });

      expect(await harness.received()).toEqual([{ body: "a1", groupId: "pool/1" }]);
      expect(await letters.count()).toBe(0);
    });

    test("that are deleted are gone, and the others stay", async () => {
      await harness.bury("a1", "a");
      await harness.bury("b1", "b");
      const held = await letters.hold();

      expect(await letters.remove(held.find(({ body }) => body === "a1")!)).toBe("removed");

      await letters.release(held.filter(({ body }) => body === "b1"));
      expect(bodies(await letters.hold())).toEqual(["b1"]);
      expect(await harness.received()).toEqual([]);
    });

    test("can be released without an error when they are gone", async () => {
      await harness.bury("a1", "a");
      const held = await letters.hold();
      await letters.remove(held[0]!);

      await letters.release(held);

      expect(await letters.hold()).toEqual([]);
    });
  });
};
