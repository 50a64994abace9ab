import { expect } from "vitest";
import * as requests from "../../support/requests.ts";
import { containerDescription, WITH_ONE_TASK } from "./at-provider.ts";
import { describeScenarios } from "./laws.ts";
import { ONE_MORE_TASK, SENT_AGAIN, TASK_WITHOUT_COMMAND, UNCOUNTED } from "./named-differences.ts";

// Commands that wait for each other.
describeScenarios([
  {
    name: "two commands in one lane",
    async course(cloud) {
      await cloud.send(requests.updateContainer("c1"));
      await cloud.send(requests.updateContainer("c2"));
    },
    async end(cloud) {
      expect(cloud.publishedTypes("c1")).toEqual(WITH_ONE_TASK);
      expect(cloud.publishedTypes("c2")).toEqual(WITH_ONE_TASK);
      expect(await containerDescription(cloud)).toBe("c2");
    },
    mayDiffer: [...SENT_AGAIN, ONE_MORE_TASK, TASK_WITHOUT_COMMAND, UNCOUNTED],
  },
  {
    name: "a command that waits for another one's task, in the same lane",
    async course(cloud) {
      await cloud.send(requests.updateContainer("c2", {}, { after: ["c1"] }));
      await cloud.send(requests.updateContainer("c1"));
    },
    async end(cloud) {
      expect(cloud.publishedTypes("c2")).toEqual(WITH_ONE_TASK);
      expect(await containerDescription(cloud)).toBe("c2");
    },
    mayDiffer: [...SENT_AGAIN, ONE_MORE_TASK, TASK_WITHOUT_COMMAND, UNCOUNTED],
  },
]);
