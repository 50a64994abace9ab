import { expect } from "vitest";
import type { State } from "../../../lib/service/state/state.ts";
import { type Fetch, json } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { taskIdsIn } from "./at-provider.ts";
import { describeScenarios } from "./laws.ts";
import {
  AROUND_A_SEND,
  doneBefore,
  ONE_MORE_TASK,
  SENT_AGAIN,
  sentAgain,
  UNCOUNTED,
  uncounted,
} from "./named-differences.ts";

const throttledOnce = (service: Fetch): Fetch => {
  let asked = 0;
  return async (request) => {
    asked += 1;
    return asked === 1
      ? json(429, { message: "slow down" }, { "retry-after": "7" })
      : service(request);
  };
};

const OTHERS = ["web-1", "web-2", "web-3", "web-4"];

const withContainers = (state: State): State => ({
  ...state,
  containers: state.containers.flatMap((container) => [
    container,
    ...OTHERS.map((name) => ({ ...container, name })),
  ]),
});

/** The update gets a task for each container. */
const manyTasks =
  (service: Fetch): Fetch =>
  async (request) => {
    if (request.method !== "PATCH") return service(request);
    const text = await request.text();
    const update = async (name: string): Promise<Response> => {
      const { method, headers } = request;
      const url = request.url.replace("my-container", name);
      return service(new Request(url, { method, headers, body: text }));
    };
    const first = await update("my-container");
    if (!first.ok) return first;
    const replies = [first, ...(await Promise.all(OTHERS.map(update)))];
    return json(200, { tasks: (await Promise.all(replies.map(taskIdsIn))).flat() });
  };

/** One invocation handles all of them, so a kill may lose the reply of each. */
const BESIDE_OTHERS = new RegExp(`${AROUND_A_SEND.source}|^killed`);
const SENT_BESIDE_OTHERS = sentAgain(BESIDE_OTHERS);
const DONE_BESIDE_OTHERS = doneBefore(BESIDE_OTHERS);
const UNCOUNTED_BESIDE_OTHERS = uncounted(BESIDE_OTHERS);

// Shared state of an account's commands: rate limit, pauses, tasks.
describeScenarios([
  {
    name: "a provider that throttles once",
    between: throttledOnce,
    course: (cloud) => cloud.send(requests.updatePolicy("c1")),
    end: (cloud) => expect(cloud.publishedTypes()).toEqual(["CommandAccepted", "CommandSucceeded"]),
    mayDiffer: [...SENT_AGAIN, UNCOUNTED],
  },
  {
    name: "commands within a rate limit of one request a second",
    account: { requests_per_second: 1 },
    async course(cloud) {
      await cloud.send(requests.updatePolicy("c1"));
      await cloud.send(requests.createEvent("c2"));
    },
    end: (cloud) => expect(cloud.publishedTypes()).toHaveLength(4),
    mayDiffer: [...SENT_BESIDE_OTHERS, DONE_BESIDE_OTHERS, UNCOUNTED_BESIDE_OTHERS],
  },
  {
    name: "many tasks of one command, which one list reads",
    state: withContainers,
    between: manyTasks,
    course: (cloud) => cloud.send(requests.updateContainer("c1")),
    async end(cloud) {
      expect(new Set(cloud.publishedTypes()).size).toBe(3);
      expect(cloud.publishedTypes()).toHaveLength(7);
      const containers = await cloud.records("containers");
      expect(containers.filter(({ description }) => description === "c1")).toHaveLength(5);
    },
    mayDiffer: [...SENT_AGAIN, ONE_MORE_TASK, UNCOUNTED_BESIDE_OTHERS],
  },
]);
