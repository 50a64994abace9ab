import { expect, test } from "vitest";
import { CONTAINER, startService } from "./harness.ts";

test.each([
  ["description at 255", { description: "d".repeat(255) }],
  ["description of 255 emoji", { description: "😀".repeat(255) }],
  ["image at 230", { image: "i".repeat(230) }],
  ["port 1", { listening_port: 1 }],
  ["port 65535", { listening_port: 65535 }],
  ["timeout 0", { timeout: 0 }],
  ["timeout 180", { timeout: 180 }],
  ["key authentication switched off", { is_api_key_auth: false }],
  ["nothing at all", {}],
])("an update with %s is accepted", async (_, body) => {
  const { send } = await startService();

  const accepted = await send("PATCH", CONTAINER, { body });

  expect(accepted.status).toBe(200);
});

test("a refusal names the field and the rule, with a request id", async () => {
  const { send } = await startService();

  const refused = await send("PATCH", CONTAINER, { body: { description: "d".repeat(256) } });

  expect(refused.status).toBe(400);
  expect(refused.body).toEqual({
    exception_class: "ValidationError",
    message: "description: at most 255 characters",
    request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    invalid_fields: { description: ["at most 255 characters"] },
  });
});

test.each([
  ["description", { description: "d".repeat(256) }],
  ["description", { description: "😀".repeat(256) }],
  ["image", { image: "i".repeat(231) }],
  ["listening_port", { listening_port: 0 }],
  ["listening_port", { listening_port: 65536 }],
  ["timeout", { timeout: -1 }],
  ["timeout", { timeout: 181 }],
  ["timeout", { timeout: 1.5 }],
  ["timeout", { timeout: "5" }],
  ["is_api_key_auth", { is_api_key_auth: true }],
  ["scale.min", { scale: { min: 3, max: 2 } }],
  ["scale.max", { scale: { min: 0 } }],
  ["envs.A", { envs: { A: 1 } }],
  ["colour", { colour: "red" }],
])("an update that breaks a rule of %s is refused and changes nothing: %j", async (field, body) => {
  const { send, stored } = await startService();
  const before = await stored();

  const refused = await send("PATCH", CONTAINER, { body });

  expect(refused.status).toBe(400);
  expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
  expect(await stored()).toEqual(before);
});
