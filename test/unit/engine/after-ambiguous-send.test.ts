import { expect, test, vi } from "vitest";
import type { AfterAmbiguousSend, Mutation } from "../../../lib/contract/operation.ts";
import { connectionLost, json, scriptProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";

/** The contract's declarations, but for what they say about an ambiguous send. */
const declared = vi.hoisted(() => ({ strategy: undefined as AfterAmbiguousSend | undefined }));

vi.mock("../../../lib/contract/operations.ts", async (importOriginal) => {
  const contract = await importOriginal<typeof import("../../../lib/contract/operations.ts")>();
  return {
    ...contract,
    commandedOperation: (id: string): Mutation => {
      const operation = contract.commandedOperation(id);
      return {
        ...operation,
        afterAmbiguousSend: declared.strategy ?? operation.afterAmbiguousSend,
      };
    },
  };
});

/** Loses the reply of the first change, and refuses the second one; answers every read. */
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
    declared.strategy = undefined;
    expect((await afterLostReply(request, refusal)).reads).toBeGreaterThan(0);

    declared.strategy = "send-again";
    expect(await afterLostReply(request, refusal)).toEqual({
      reads: 0,
      changes: 2,
      reason: "refused",
    });
  },
);

test("update-policy is sent again as it declares, and looked for once that is declared", async () => {
  declared.strategy = undefined;
  expect(await afterLostReply(requests.updatePolicy("c1"), 400)).toMatchObject({
    reads: 0,
    changes: 2,
  });

  declared.strategy = "look-for-effect";
  const looked = await afterLostReply(requests.updatePolicy("c1"), 400);
  expect(looked.reads).toBeGreaterThan(0);
  expect(looked.changes).toBe(1);
});
