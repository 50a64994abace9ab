import * as fc from "fast-check";
import { expect, test } from "vitest";
import { openSealed, type SealedRequest, sealRequest } from "../../../lib/engine/queue-message.ts";
import { refusalOfMessage } from "../../../lib/local/fifo-queue.ts";
import { startProvider } from "../../support/provider.ts";
import { shared, updatePolicy } from "../../support/requests.ts";
import { createWorld, FINGERPRINT_KEY } from "../../support/world.ts";

const TEAM = "111111111111";
const sealed: SealedRequest = {
  sender: TEAM,
  eventId: "e1",
  sentAt: Date.parse("2026-01-01T00:00:00Z"),
  detail: JSON.stringify(updatePolicy("c1")),
};

test("a request that intake sealed runs as the sender that it names", async () => {
  const world = await createWorld({ provider: startProvider, rights: shared(TEAM) });

  await world.send(sealRequest(sealed, FINGERPRINT_KEY));
  await world.untilQuiet();

  expect((await world.command("c1", TEAM))?.state.status).toBe("succeeded");
  expect(await world.command("c1")).toBeUndefined();
  expect(world.bus.published().every(({ metadata }) => metadata.sender === TEAM)).toBe(true);
});

const messageOf = (fields: Partial<SealedRequest>, key = FINGERPRINT_KEY): object => ({
  ...JSON.parse(sealRequest(sealed, key)),
  sealed: { ...sealed, ...fields },
});

test.each([
  ["another sender", messageOf({ sender: "222222222222" })],
  ["another event", messageOf({ eventId: "e2" })],
  ["another time", messageOf({ sentAt: 2_000 })],
  ["another request", messageOf({ detail: "{}" })],
  ["another key", messageOf({}, "another key")],
  ["no seal", { sealed }],
  ["an empty seal", { sealed, seal: "" }],
  ["a seal that is no hex", { sealed, seal: "seal" }],
])("with %s it is not a valid request", async (_what, message) => {
  const world = await createWorld({
    provider: startProvider,
    rights: shared(TEAM, "222222222222"),
  });

  await world.send(message);
  await world.untilQuiet();

  expect(world.publishedTypes()).toEqual([]);
  expect(world.log.lines.map(({ level }) => level)).toEqual(["warn"]);
});

test("a sender that an unsealed request names is ignored", async () => {
  const world = await createWorld({ provider: startProvider, rights: shared(TEAM) });
  const request = updatePolicy("c1");

  await world.send({ ...request, metadata: { ...request.metadata, sender: TEAM, account: TEAM } });
  await world.untilQuiet();

  expect((await world.command("c1"))?.sender).toBe("own");
});

test("any text comes out of the queue as it went in", () => {
  void fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (sender, detail) => {
      const body = sealRequest({ sender, eventId: "e", detail }, "key");

      expect(openSealed(JSON.parse(body), "key")).toEqual({ sender, eventId: "e", detail });
      expect(refusalOfMessage({ body, groupId: "g", deduplicationId: "d" })).toBeUndefined();
    }),
  );
});
