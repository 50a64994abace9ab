import { expect, test } from "vitest";
import { POOL, startService } from "./harness.ts";

test("the deprecated path names its successor, which does the same without the headers", async () => {
  const { send, clock } = await startService();
  const successor = POOL.replace("/v1/", "/v2/");

  const deprecated = await send("PATCH", POOL, { body: { name: "renamed once" } });
  await clock.advance(10_000);
  const current = await send("PATCH", successor, { body: { name: "renamed twice" } });
  const refused = await send("PATCH", POOL, { body: { name: "locked now" } });

  expect(deprecated.headers.get("Deprecation")).toBe("@1763424000");
  expect(deprecated.headers.get("Link")).toBe(
    "</cloud/v2/lbpools/1234567/76/9fccf0a3-c0de-441d-9afd-2b9b58b08b9f>; " +
      'rel="successor-version"',
  );
  expect(current.status).toBe(200);
  expect(current.body.tasks).toHaveLength(1);
  expect(current.headers.get("Deprecation")).toBeNull();
  expect(refused.status).toBe(409);
  expect(refused.headers.get("Deprecation")).toBe("@1763424000");
});
