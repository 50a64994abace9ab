import { expect } from "vitest";
import { type Fetch, json } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import type { Cloud } from "./cloud.ts";
import { describeScenarios } from "./laws.ts";
import {
  COUNTED_AGAIN,
  DONE_BEFORE,
  MAY_BE_DONE,
  SENT_AGAIN,
  UNCOUNTED,
} from "./named-differences.ts";

const NETWORK = { ...requests.PLACE, network_id: "b39792c3-3160-4356-912e-ba396c95cdcf" };
const SECOND_VOLUME = "3ed9e2ce-f906-47fb-ba32-c25a3f63df50";

const expectTold = (cloud: Cloud, ...ends: readonly string[]): void =>
  expect(cloud.publishedTypes()).toEqual(ends.flatMap((end) => ["CommandAccepted", end]));

const policy = async (cloud: Cloud) => (await cloud.records("lifecycle_policies"))[0];

const nothingToDo =
  (service: Fetch): Fetch =>
  async (request) =>
    request.method === "PATCH" ? json(200, { tasks: [] }) : service(request);

// Every operation that ends with the provider's answer.
describeScenarios([
  {
    name: "resuming an instance, which a second request cannot do again (E2)",
    isOnceOnly: true,
    course: (cloud) => cloud.send(requests.resumeInstance("c1")),
    async end(cloud) {
      expectTold(cloud, "CommandSucceeded");
      const instances = await cloud.records("instances");
      const resumed = instances.find(({ id }) => id === requests.SUSPENDED_INSTANCE);
      expect(resumed.vm_state).toBe("active");
    },
    mayDiffer: [...SENT_AGAIN, DONE_BEFORE, UNCOUNTED],
  },
  {
    name: "removing volumes from a policy (E4)",
    course: (cloud) => cloud.send(requests.removeVolumes("c1", [SECOND_VOLUME])),
    async end(cloud) {
      expectTold(cloud, "CommandSucceeded");
      expect((await policy(cloud)).volumes).toHaveLength(1);
    },
    mayDiffer: [...SENT_AGAIN, UNCOUNTED],
  },
  {
    name: "updating a policy (E5)",
    course: (cloud) => cloud.send(requests.updatePolicy("c1")),
    async end(cloud) {
      expectTold(cloud, "CommandSucceeded");
      expect((await policy(cloud)).status).toBe("paused");
    },
    mayDiffer: [...SENT_AGAIN, UNCOUNTED],
  },
  {
    name: "updating a storage event (E10)",
    course: (cloud) =>
      cloud.send(
        requests.updateEvent("c1", {
          storage_name: "my-storage-prod",
          bucket_name: "my-bucket",
          bytes: "900",
        }),
      ),
    async end(cloud) {
      expectTold(cloud, "CommandSucceeded");
      const events = await cloud.records("storage_events");
      expect(events.map(({ bytes, count }) => bytes ?? count).toSorted()).toEqual(["5", "900"]);
    },
    mayDiffer: [...SENT_AGAIN, UNCOUNTED],
  },
  {
    name: "creating a storage event, which a second request cannot do again (E15)",
    isOnceOnly: true,
    course: (cloud) => cloud.send(requests.createEvent("c1")),
    async end(cloud) {
      expectTold(cloud, "CommandSucceeded");
      const events = await cloud.records("storage_events");
      expect(events.filter(({ bytes }) => bytes === "700")).toHaveLength(1);
    },
    mayDiffer: [...SENT_AGAIN, DONE_BEFORE, UNCOUNTED],
  },
  // Other outcomes of a command that ends at once.
  {
    name: "an operation that answers with an empty list of tasks",
    between: nothingToDo,
    course: (cloud) => cloud.send(requests.updateContainer("c1")),
    end: (cloud) => expectTold(cloud, "CommandSucceeded"),
    mayDiffer: [...SENT_AGAIN, MAY_BE_DONE, UNCOUNTED],
  },
  {
    name: "a request that the provider refuses",
    course: (cloud) => cloud.send(requests.updateEvent("c1", { bucket_name: "no-such" })),
    end: (cloud) => expectTold(cloud, "CommandFailed"),
    mayDiffer: [...SENT_AGAIN, UNCOUNTED],
  },
  {
    name: "a guard that does not hold",
    course: (cloud) =>
      cloud.send(
        requests.resumeInstance("c1", {
          guards: [{ network: NETWORK, key: "cost-center", equals: "games" }],
        }),
      ),
    end: (cloud) => expectTold(cloud, "CommandCancelled"),
    mayDiffer: [UNCOUNTED],
  },
  {
    name: "an update behind a guard that holds",
    course: (cloud) =>
      cloud.send(
        requests.updatePolicyWith("c1", {
          guards: [{ network: NETWORK, key: "cost-center", equals: "platform" }],
        }),
      ),
    async end(cloud) {
      expectTold(cloud, "CommandSucceeded");
      expect((await policy(cloud)).status).toBe("paused");
    },
    mayDiffer: [...SENT_AGAIN, UNCOUNTED],
  },
  {
    name: "a dry run behind a guard that holds",
    course: (cloud) =>
      cloud.send(
        requests.updatePolicyWith("c1", {
          guards: [{ network: NETWORK, key: "cost-center", equals: "platform" }],
          dryRun: true,
        }),
      ),
    async end(cloud) {
      expectTold(cloud, "CommandSucceeded");
      expect((await policy(cloud)).status).toBe("active");
    },
    mayDiffer: [UNCOUNTED],
  },
  {
    name: "a command that waits for one that fails",
    async course(cloud) {
      await cloud.send(requests.updatePolicyWith("c2", { after: ["c1"] }));
      await cloud.send(requests.updateEvent("c1", { bucket_name: "no-such" }));
    },
    async end(cloud) {
      expect(cloud.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandFailed"]);
      expect(cloud.publishedTypes("c2")).toEqual(["CommandAccepted", "CommandCancelled"]);
      expect((await policy(cloud)).status).toBe("active");
    },
    mayDiffer: [...SENT_AGAIN, UNCOUNTED],
  },
  {
    name: "a request that breaks the contract",
    course: (cloud) => cloud.send(requests.updateContainer("c1", { timeout: 999 })),
    end: (cloud) => expect(cloud.publishedTypes()).toEqual(["CommandRejected"]),
    mayDiffer: [COUNTED_AGAIN],
  },
]);
