import { describe, expect, onTestFinished, test } from "vitest";
import type { Secrets } from "../../../lib/platform/ports/secrets.ts";

export interface SecretsHarness {
  readonly secrets: Secrets;
  /** Reference of a secret that does not exist yet. */
  readonly reference: string;
  put(value: string): Promise<void>;
  remove(): Promise<void>;
}

/** The contract of secrets, for one adapter. */
export const describeSecretsContract = (
  name: string,
  open: () => Promise<SecretsHarness>,
): void => {
  const openForTest = async (): Promise<SecretsHarness> => {
    const harness = await open();
    onTestFinished(harness.remove);
    return harness;
  };

  describe(`a secret (${name})`, () => {
    test("is read exactly with any characters", async () => {
      const { secrets, reference, put } = await openForTest();
      const value = ` $2b$12$\\"'{"ünï": "€😀"} `;

      await put(value);

      expect(await secrets.read(reference)).toBe(value);
    });

    test("has the value of the last write, even for an earlier reader", async () => {
      const { secrets, reference, put } = await openForTest();
      await put("old key");
      await secrets.read(reference);

      await put("new key");

      expect(await secrets.read(reference)).toBe("new key");
    });

    test("rejects with its reference if it does not exist", async () => {
      const { secrets, reference } = await openForTest();

      await expect(secrets.read(reference)).rejects.toThrow(`secret ${reference} cannot be read`);
    });
  });
};
