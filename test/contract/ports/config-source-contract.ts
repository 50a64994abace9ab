import { describe, expect, onTestFinished, test } from "vitest";
import type { ConfigSource } from "../../../lib/platform/ports/config-source.ts";

export interface ConfigSourceHarness {
  readonly source: ConfigSource;
  write(text: string): Promise<void>;
  /** Takes the config away. */
  remove(): Promise<void>;
  /** Takes everything away that was made for the test. */
  close(): Promise<void>;
}

/** Every law of a config source, for one adapter. `open` gives one without a config. */
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
    test("is undefined while there is none", async () => {
      const { source } = await openForTest();

      expect(await source.read()).toBeUndefined();
    });

    test("is read as it was last written", async () => {
      const { source, write } = await openForTest();
      await write("thresholds: []\n");
      await write("thresholds: [] # Größe\n");

      expect((await source.read())?.text).toBe("thresholds: [] # Größe\n");
    });

    test("has a version that changes with the text and only then", async () => {
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

    test("is read far enough to see that it is too long, and no further where it could be endless", async () => {
      const { source, write } = await openForTest();
      await write("x".repeat(1_500_000));

      expect((await source.read())?.text.length).toBeGreaterThan(1_000_000);
    });

    test("is undefined again once it was removed", async () => {
      const { source, write, remove } = await openForTest();
      await write("thresholds: []\n");

      await remove();

      expect(await source.read()).toBeUndefined();
    });
  });
};
