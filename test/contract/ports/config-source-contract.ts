import { describe, expect, onTestFinished, test } from "vitest";
import type { ConfigSource } from "../../../lib/platform/ports/config-source.ts";

export interface ConfigSourceHarness {
  readonly source: ConfigSource;
  write(text: string): Promise<void>;
  /** Removes the config. */
  remove(): Promise<void>;
  /** Removes everything that the test created. */
  close(): Promise<void>;
}

/** The contract of a config source, for one adapter. `open` returns a source without a config. */
export const describeConfigSourceContract = (
  name: string,
  open: () => Promise<ConfigSourceHarness>,
): void => {
  const openForTest = async (): Promise<ConfigSourceHarness> => {
    const harness = await open();
    onTestFinished(harness.close);
    return harness;
  };

  describe(`a config (${name})`, () => {
    test("is undefined if it does not exist", async () => {
      const { source } = await openForTest();

      expect(await source.read()).toBeUndefined();
    });

    test("has the text of the last write", async () => {
      const { source, write } = await openForTest();
      await write("thresholds: []\n");
      await write("thresholds: [] # Größe\n");

      expect((await source.read())?.text).toBe("thresholds: [] # Größe\n");
    });

    test("has a version that changes if and only if the text changes", async () => {
      const { source, write } = await openForTest();
      await write("one");
      const first = await source.read();
      const again = await source.read();
      await write("two");

      expect(again?.version).toBe(first?.version);
      expect((await source.read())?.version).not.toBe(first?.version);
    });

    test("may be empty", async () => {
      const { source, write } = await openForTest();
      await write("");

      expect(await source.read()).toMatchObject({ text: "" });
    });

    test("is read at least up to the size that makes it too long", async () => {
      const { source, write } = await openForTest();
      await write("x".repeat(1_500_000));

      expect((await source.read())?.text.length).toBeGreaterThan(1_000_000);
    });

    test("is undefined again after its removal", async () => {
      const { source, write, remove } = await openForTest();
      await write("thresholds: []\n");

      await remove();

      expect(await source.read()).toBeUndefined();
    });
  });
};
