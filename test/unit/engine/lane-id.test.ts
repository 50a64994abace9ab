import { describe, expect, test } from "vitest";
import { updateContainer } from "../../../lib/contract/containers.ts";
import { createStorageEvent, updateStorageEvent } from "../../../lib/contract/storage-events.ts";
import { groupIdOf, laneIdOf } from "../../../lib/engine/lane.ts";

const containerLane = (container_name: string, account = "local") =>
  laneIdOf(updateContainer, account, {
    params: { project_id: 1, region_id: 2, container_name },
    query: {},
  });
const eventRequest = (body: Record<string, string>, query = {}) => ({
  params: {},
  query,
  body: { name: "reaching_used_space", ...body },
});

describe("the lane of a command", () => {
  test("is named by account, kind of resource and what identifies it", () => {
    expect(containerLane("web")).toBe("local/container/1/2/web");
  });

  test("keeps names apart that contain the separator", () => {
    expect(containerLane("a/b")).toBe("local/container/1/2/a%2Fb");
  });

  test("is another one in another account", () => {
    expect(containerLane("web", "other")).not.toBe(containerLane("web"));
  });

  test("is the same for creating and updating one storage event", () => {
    const request = eventRequest({ storage_name: "s", bucket_name: "b", bytes: "1" });

    expect(laneIdOf(createStorageEvent, "local", request)).toBe(
      laneIdOf(updateStorageEvent, "local", { ...request, body: { ...request.body, bytes: "2" } }),
    );
  });

  test("is the same for a name that is absent and one that is empty", () => {
    expect(laneIdOf(createStorageEvent, "local", eventRequest({ storage_name: "" }))).toBe(
      laneIdOf(createStorageEvent, "local", eventRequest({})),
    );
  });

  test("is another one for another client", () => {
    expect(laneIdOf(createStorageEvent, "local", eventRequest({}, { client_id: 7 }))).not.toBe(
      laneIdOf(createStorageEvent, "local", eventRequest({})),
    );
  });
});

describe("the message group of a lane", () => {
  test("is the lane itself where SQS takes it", () => {
    const lane = "l".repeat(128);

    expect(groupIdOf(lane)).toBe(lane);
  });

  test("is a hash of it where it is longer", () => {
    expect(groupIdOf("l".repeat(129))).toMatch(/^[0-9a-f]{64}$/);
    expect(groupIdOf("l".repeat(129))).not.toBe(groupIdOf("l".repeat(130)));
  });
});
