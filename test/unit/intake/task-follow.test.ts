import { describe, expect, test } from "vitest";
import { shared } from "../../support/requests.ts";
import { createIntakeWorld, eventOf } from "./intake-world.ts";

const TEAM = "111111111111";
const STRANGER = "333333333333";
const world = () => createIntakeWorld({ rights: shared(TEAM) });

describe("a TaskFollowRequested", () => {
  const follow = (data: unknown, fields = {}) =>
    eventOf(TEAM, "TaskFollowRequested", { metadata: { commandId: "f1" }, data }, fields);

  test("becomes a command that follows the task", async () => {
    const current = await world();

    await current.put(follow({ taskId: "t1", account: "local" }));
    await current.deliver();

    expect((await current.command("f1", TEAM))?.operation).toBe("follow-task");
    expect((await current.command("f1", TEAM))?.state.status).toBe("following");
  });

  test.each([
    ["without a task", {}, ["taskId"]],
    ["with another operation", { taskId: "t1", operation: "update-policy" }, ["operation"]],
    ["with parameters", { taskId: "t1", params: { task_id: "t2" } }, ["params"]],
    ["that is not an object", "t1", ["data"]],
  ])("%s is rejected", async (_what, data, paths) => {
    const current = await world();

    await current.put(follow(data));

    const rejected = current.bus.published().at(-1)!;
    expect(rejected.data.operation).toBe("follow-task");
    expect(rejected.data.reason).toBe("invalid");
    expect(rejected.data.problems.map(({ path }: { path: string }) => path)).toEqual(paths);
  });

  test("of a sender without rights is rejected as not-allowed", async () => {
    const current = await world();

    await current.put(follow({ taskId: "t1" }, { account: STRANGER }));

    expect(current.bus.published().at(-1)?.data.reason).toBe("not-allowed");
  });
});
