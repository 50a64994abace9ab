import { expect } from "vitest";
import * as requests from "../../support/requests.ts";
import { taskIdsIn } from "./at-provider.ts";
import type { Cloud } from "./cloud.ts";
import { TEAM } from "./cloud.ts";
import { describeScenarios } from "./laws.ts";
import { COUNTED_AGAIN, DONE_BEFORE, SENT_AGAIN, UNCOUNTED } from "./named-differences.ts";

/** An event as EventBridge delivers it to a target. */
const eventOf = (account: string, detailType: string, detail: object, source = "team") => ({
  version: "0",
  id: "7bf73129-1428-4cd3-a780-95db273d1602",
  "detail-type": detailType,
  source,
  account,
  time: "2026-01-01T00:00:00Z",
  region: "eu-west-1",
  resources: [],
  detail,
});

const RESUME_WHEN_PAID = {
  name: "resume-when-paid",
  when: { source: ["billing"], "detail-type": ["InvoicePaid"] },
  account: "local",
  // biome-ignore lint/suspicious/noThenProperty: a word of the file
  then: {
    operation: "resume-instance",
    params: { ...requests.PLACE, instance_id: "$.detail.instance.id" },
  },
};

const SUCCEEDED = ["CommandAccepted", "CommandSucceeded"];

/** Updates a container as another client. @returns the task ids, exactly one */
const startTask = async (cloud: Cloud): Promise<readonly string[]> => {
  const path = "/cloud/v1/caas/1234567/76/containers/my-container";
  return taskIdsIn(await cloud.meddle("PATCH", path, { description: "theirs" }));
};

// Events of the bus, from intake to the end of the command.
describeScenarios([
  {
    name: "a command of another AWS account",
    course: (cloud) =>
      cloud.put(eventOf(TEAM, "CommandRequested", requests.resumeInstance("theirs"))),
    end: (cloud) => expect(cloud.publishedTypes("theirs")).toEqual(SUCCEEDED),
    mayDiffer: [...SENT_AGAIN, DONE_BEFORE, UNCOUNTED],
  },
  {
    name: "an event that becomes a command by a reaction",
    reactions: [RESUME_WHEN_PAID],
    async course(cloud) {
      const detail = { instance: { id: requests.SUSPENDED_INSTANCE } };
      cloud.put(eventOf(TEAM, "InvoicePaid", detail, "billing"), "resume-when-paid");
    },
    end: (cloud) =>
      expect(cloud.publishedTypes("7bf73129-1428-4cd3-a780-95db273d1602:resume-when-paid")).toEqual(
        SUCCEEDED,
      ),
    mayDiffer: [...SENT_AGAIN, DONE_BEFORE, UNCOUNTED],
  },
  {
    name: "following a task of another client",
    async course(cloud) {
      const [taskId] = await startTask(cloud);
      const detail = { metadata: { commandId: "f1" }, data: { taskId } };
      cloud.put(eventOf(TEAM, "TaskFollowRequested", detail));
    },
    end: (cloud) =>
      expect(cloud.publishedTypes("f1")).toEqual([
        "CommandAccepted",
        "TaskFinished",
        "CommandSucceeded",
      ]),
    mayDiffer: [UNCOUNTED],
  },
  {
    name: "a request that is rejected by intake",
    course: (cloud) =>
      cloud.put(
        eventOf(TEAM, "CommandRequested", requests.updatePolicy("c1", { status: "asleep" })),
      ),
    end: (cloud) => expect(cloud.publishedTypes()).toEqual(["CommandRejected"]),
    mayDiffer: [COUNTED_AGAIN],
  },
  {
    name: "a request that its sender may not make",
    course: (cloud) => cloud.put(eventOf(TEAM, "CommandRequested", requests.updatePolicy("c1"))),
    end: (cloud) =>
      expect(cloud.bus.published().map(({ data }) => data.reason)).toEqual(["not-allowed"]),
    mayDiffer: [COUNTED_AGAIN],
  },
]);
