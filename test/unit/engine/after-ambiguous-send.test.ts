import { afterEach, expect, test } from "vitest";
import type { AfterAmbiguousSend } from "../../../lib/contract/operation.ts";
import { COMMANDED } from "../../../lib/contract/operations.ts";
import { connectionLost, json, scriptProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";

const declared = COMMANDED.map(({ afterAmbiguousSend }) => afterAmbiguousSend);

/** Lets every operation of the contract declare this strategy. */
const declareAll = (afterAmbiguousSend: AfterAmbiguousSend): void => {
  for (const operation of COMMANDED) Object.assign(operation, { afterAmbiguousSend });
};

afterEach(() => {
  for (const [index, operation] of COMMANDED.entries()) {
    Object.assign(operation, { afterAmbiguousSend: declared[index] });
  }
});

/** Loses the reply to the first change and refuses the second; answers every read. */
const providerOf = (refusal: number) => {
  let asked = 0;
  const change = () => {
    asked += 1;
    return asked === 1 ? connectionLost() : json(refusal, { message: "no", error: "no" });
  };
  return scriptProvider({
    "POST ": change,
    "PATCH ": change,
    "GET /cloud/v1/tasks": () => json(200, { count: 0, results: [] }),
    "GET /cloud/v1/lbpools/": () => json(200, { id: "p", name: "p", task_id: "busy" }),
    "GET /cloud/v1/instances/": () => json(503, {}),
    "GET /storage/": () => json(200, {}),
  });
};

const afterLostReply = async (request: object, refusal: number) => {
  const provider = providerOf(refusal);
  const world = await createWorld({ provider: () => provider });
  await world.send(request);
  await world.pass(60_000);
  return {
    reads: provider.count("GET "),
    changes: provider.count("P"),
    reason: world.bus.published().at(-1)?.data.reason,
  };
};

test.each([
  ["update-pool", requests.updatePool("c1"), 400],
  ["create-router", requests.createRouter("c1"), 400],
  ["resume-instance", requests.resumeInstance("c1"), 400],
  ["create-storage-event", requests.createEvent("c1"), 409],
])(
  "%s is read about as it declares, and only sent again once that is declared",
  async (_id, request, refusal) => {
    expect((await afterLostReply(request, refusal)).reads).toBeGreaterThan(0);

    declareAll("send-again");
    expect(await afterLostReply(request, refusal)).toEqual({
      reads: 0,
      changes: 2,
      reason: "refused",
    });
  },
);

test("a pool that was deleted after a lost reply ends the command at the next send", async () => {
  const provider = providerOf(404);
  provider.answer("GET /cloud/v1/lbpools/", () => json(404, { message: "no pool" }));
  const world = await createWorld({ provider: () => provider });
  await world.send(requests.updatePool("c1"));

  await world.pass(60_000);

  expect(world.bus.published().at(-1)?.data.reason).toBe("refused");
  expect([provider.count("PATCH "), provider.count("GET ")]).toEqual([2, 1]);
});

test.each([
  ["update-pool", requests.updatePool("c1"), 400, [1, 1]],
  ["create-router", requests.createRouter("c1"), 400, [1, 1]],
  ["resume-instance", requests.resumeInstance("c1"), 400, [2, 1]],
  ["create-storage-event", requests.createEvent("c1"), 409, [2, 1]],
])(
  "%s has an unknown outcome when the read that would explain it is refused, and is not sent again",
  async (_id, request, refusal, asked) => {
    const provider = providerOf(refusal);
    for (const path of [
      "/cloud/v1/tasks",
      "/cloud/v1/lbpools/",
      "/cloud/v1/instances/",
      "/storage/",
    ])
      provider.answer(`GET ${path}`, () => json(403, { message: "no right" }));
    const world = await createWorld({ provider: () => provider });
    await world.send(request);

    await world.pass(60_000);

    expect(world.bus.published().at(-1)?.data).toMatchObject({
      reason: "unknown-outcome",
      problems: [
        {
          rule: expect.stringMatching(
            /^request 1 got no clear reply \(connection-lost\);.*forbidden/,
          ),
        },
      ],
    });
    expect([provider.count("P"), provider.count("GET ")]).toEqual(asked);
  },
);

test("the strategy that the contract declares decides whether update-policy is sent again or searched for", async () => {
  expect(await afterLostReply(requests.updatePolicy("c1"), 400)).toMatchObject({
    reads: 0,
    changes: 2,
  });

  declareAll("look-for-effect");
  const looked = await afterLostReply(requests.updatePolicy("c1"), 400);
  expect(looked.reads).toBeGreaterThan(0);
  expect(looked.changes).toBe(1);
});
