import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deadLettersText } from "../../../lib/cli/commands/dead-letters.ts";
import type { DeadLetter } from "../../../lib/platform/ports/dead-letters.ts";
import { requestOf, updateContainer, updatePolicy } from "../../support/requests.ts";
import { contextOf, explained, KEY, OTHER_TEAM, sealedBy } from "./sample-dead-letters.ts";

const CANARY = "canary-7f3a9";

/** All output, as text and as JSON. */
const shown = async (body: unknown, fields: Partial<DeadLetter> = {}, context = contextOf()) => {
  const explanation = await explained(body, context, fields);
  return JSON.stringify(explanation) + deadLettersText({ deadLetters: [explanation], more: 0 });
};

const ENVS = { TOKEN: CANARY, NAME: "x" };
const withEnvs = updateContainer("c1", { envs: ENVS });

describe("the explanation of a dead letter", () => {
  test("shows the names of secret fields without their values", async () => {
    const text = await shown(
      updateContainer("c1", {
        envs: { TOKEN: CANARY },
        pull_secret: `${CANARY}-too`,
        description: `the token is ${CANARY}`,
      }),
    );

    expect(text).not.toContain(CANARY);
    expect(text).toContain('"envs":"[redacted]"');
    expect(text).toContain('"description":"the token is [redacted]"');
  });

  test.each([
    ["in a request that intake has sealed", sealedBy(OTHER_TEAM, withEnvs)],
    ["in one whose seal is not ours", sealedBy(OTHER_TEAM, withEnvs, "another key")],
    ["in text that was cut off", JSON.stringify(withEnvs).slice(0, -3)],
    ["in a misspelt field", updateContainer("c1", { env: { TOKEN: CANARY } })],
    ["in a request with another mistake", updateContainer("c1", { envs: ENVS, timeout: -1 })],
    [
      "for an operation that there is not",
      requestOf("c1", { operation: "x", body: { k: CANARY } }),
    ],
    ["as a key beside everything", { ...withEnvs, api_key: CANARY, metadata: { apikey: CANARY } }],
    ["in a list", [CANARY]],
    ["as the whole message", CANARY],
  ])("shows no secret %s", async (_where, body) => {
    expect(await shown(body)).not.toContain(CANARY);
  });

  test("shows no secret if neither the seal's key nor the rights are known", async () => {
    const context = contextOf({ access: undefined, fingerprintKey: undefined });

    expect(await shown(sealedBy(OTHER_TEAM, withEnvs), {}, context)).not.toContain(CANARY);
  });

  test("does not show the key of intake's seal", async () => {
    expect(await shown(sealedBy(OTHER_TEAM, withEnvs))).not.toContain(KEY);
  });

  test("shows no value of an invalid body, whatever its shape", async () => {
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constant(CANARY),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.string(), tie("value"), { maxKeys: 3 }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(values.value, async (value) => {
        const body = requestOf("c1", { operation: "update-container", body: { envs: value } });

        expect(await shown(body)).not.toContain(CANARY);
      }),
    );
  });
});

describe("the explanation of an untrusted dead letter", () => {
  test("contains no terminal control characters", async () => {
    const hostile = "a\u001b[2J\u202eb";

    const explanation = await explained(
      requestOf(hostile, { operation: "update-policy", body: {} }),
      contextOf(),
      { groupId: hostile, messageId: hostile },
    );
    const text = deadLettersText({ deadLetters: [explanation], more: 0 });

    expect(text).toContain("a\\u001b[2J\\u202eb");
    expect(text).not.toMatch(/[^\n\P{Cc}]|\p{Cf}/u);
  });

  test.each([
    ["a command's key", { resume: { command: "x".repeat(500_000), lane: "l" } }],
    ["its sender", JSON.parse(sealedBy("x".repeat(500_000), {}, "another key"))],
    ["the names of its fields", updatePolicy("c1", { ["x".repeat(200_000)]: 1 })],
    [
      "the number of its fields",
      updatePolicy("c1", Object.fromEntries(Array.from({ length: 9_999 }, (_, n) => [`f${n}`, n]))),
    ],
  ])("is short for a long %s", async (_part, body) => {
    const text = await shown(body, {}, contextOf());

    expect(text.length).toBeLessThan(15_000);
  });

  test("is short for a large and deeply nested message", async () => {
    const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
    const wide = JSON.stringify(
      Object.fromEntries(Array.from({ length: 9_999 }, (_, n) => [n, n])),
    );

    for (const part of [deep, wide]) {
      const text = await shown(`{"metadata":{"commandId":"c1"},"data":{"body":${part}}}`);

      expect(text.length).toBeLessThan(10_000);
    }
  });
});
