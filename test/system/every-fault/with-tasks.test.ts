import { expect } from "vitest";
import * as z from "zod";
import { type Fetch, json } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { containerDescription, WITH_ONE_TASK } from "./at-provider.ts";
import { describeScenarios } from "./laws.ts";
import {
  NOTHING_LEFT_TO_DO,
  ONE_MORE_TASK,
  SENT_AGAIN,
  STILL_AT_WORK,
  TASK_WITHOUT_COMMAND,
  UNCOUNTED,
} from "./named-differences.ts";

const taskReply = z.looseObject({ state: z.string() });

/** An end that the service does not have: a task that is FINISHED with an error text. */
const finishedWithError =
  (service: Fetch): Fetch =>
  async (request) => {
    const reply = await service(request);
    if (!new URL(request.url).pathname.startsWith("/v1/tasks/")) return reply;
    const task = taskReply.parse(await reply.json());
    return json(200, task.state === "FINISHED" ? { ...task, error: "half of it" } : task);
  };

// Every operation that ends with its background tasks.
describeScenarios([
  {
    name: "updating a container (E1)",
    // The first check finds the task at work.
    taskMs: 3_000,
    course: (cloud) => cloud.send(requests.updateContainer("c1")),
    async end(cloud) {
      expect(cloud.publishedTypes()).toEqual(WITH_ONE_TASK);
      expect(await containerDescription(cloud)).toBe("c1");
    },
    mayDiffer: [...SENT_AGAIN, ONE_MORE_TASK, TASK_WITHOUT_COMMAND, UNCOUNTED],
  },
  {
    name: "updating a pool (E8)",
    course: (cloud) => cloud.send(requests.updatePool("c1")),
    async end(cloud) {
      expect(cloud.publishedTypes()).toEqual(WITH_ONE_TASK);
      const [pool] = await cloud.records("load_balancer_pools");
      expect(pool).toMatchObject({ name: "renamed_pool", task_id: null });
    },
    mayDiffer: [...SENT_AGAIN, ...NOTHING_LEFT_TO_DO, UNCOUNTED],
  },
  {
    name: "creating a router, which must happen once only (E11)",
    isOnceOnly: true,
    account: { settle: "30s" },
    course: (cloud) =>
      cloud.send(requests.createRouter("c1", { interfaces: [{ subnet_id: requests.SUBNET }] })),
    async end(cloud) {
      expect(cloud.publishedTypes()).toEqual(WITH_ONE_TASK);
      const routers = await cloud.records("routers");
      expect(routers.filter(({ name }) => name === "new_router")).toHaveLength(1);
    },
    mayDiffer: [...SENT_AGAIN, UNCOUNTED],
  },
  // Other outcomes of a command with tasks.
  {
    name: "a task that ends in ERROR",
    course: (cloud) =>
      cloud.send(requests.updateContainer("c1", { image: "registry.invalid/image:1" })),
    async end(cloud) {
      expect(cloud.publishedTypes()).toEqual(["CommandAccepted", "TaskFailed", "CommandFailed"]);
      expect(await containerDescription(cloud)).toBe("");
    },
    mayDiffer: [...SENT_AGAIN, ONE_MORE_TASK, TASK_WITHOUT_COMMAND, UNCOUNTED],
  },
  {
    name: "a task that is FINISHED with an error text",
    between: finishedWithError,
    course: (cloud) => cloud.send(requests.updateContainer("c1")),
    end: (cloud) =>
      expect(cloud.publishedTypes()).toEqual(["CommandAccepted", "TaskFailed", "CommandFailed"]),
    mayDiffer: [...SENT_AGAIN, ONE_MORE_TASK, TASK_WITHOUT_COMMAND, UNCOUNTED],
  },
  {
    name: "a task that is still running at the deadline",
    taskMs: 3_600_000,
    course: (cloud) =>
      cloud.send(requests.updateContainer("c1", {}, { deadline: "2026-01-01T00:05:00Z" })),
    async end(cloud) {
      expect(cloud.publishedTypes()).toEqual(["CommandAccepted", "CommandFailed"]);
      expect(cloud.metrics.counted).toContain("TaskPastDeadline");
    },
    mayDiffer: [...SENT_AGAIN, ...STILL_AT_WORK, UNCOUNTED],
  },
]);
