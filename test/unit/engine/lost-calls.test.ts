import { expect, test } from "vitest";
import { json, type SeenRequest, scriptProvider } from "../../support/provider.ts";
import { updateContainer } from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";

/** The first command follows a task; this number of messages for the next one is lost. */
const runWith = async (lostCalls: number) => {
  const provider = scriptProvider({
    "PATCH ": ({ body }: SeenRequest) =>
      json(200, { tasks: body.description === "first" ? ["t1"] : [] }),
    "GET /v1/tasks/t1": () => json(200, { id: "t1", state: "FINISHED" }),
  });
  let left = 0;
  const world = await createWorld({
    provider: () => provider,
    around: async (call, effect) => {
      if (call.name === "queue.send" && left > 0) {
        left -= 1;
        return undefined as never;
      }
      return effect();
    },
  });
  await world.handle(updateContainer("first", { description: "first" }));
  await world.handle(updateContainer("next", { description: "next" }));
  left = lostCalls;
  await world.pass(150_000);
  return world;
};

test.each([1, 2, 3])(
  "a command that holds its lane is sent to the queue again when %i messages were lost",
  async (lost) => {
    const world = await runWith(lost);

    expect(world.publishedTypes("next")).toEqual(["CommandAccepted", "CommandSucceeded"]);
  },
);
