import { expect } from "vitest";
import { createFaults, type FaultKind, type Faults } from "../support/faults.ts";
import { type Fetch, json, startProvider } from "../support/provider.ts";
import * as requests from "../support/requests.ts";
import { createWorld, type World } from "../support/world.ts";

/** Short, because every look at a task is made some hundred times. */
const TASK_MS = 3_000;

type ServiceProvider = Awaited<ReturnType<typeof startProvider>>;

type End = "CommandCancelled" | "CommandFailed" | "CommandRejected" | "CommandSucceeded";

const NETWORK = { ...requests.PLACE, network_id: "b39792c3-3160-4356-912e-ba396c95cdcf" };

/** One course of events, and what must be true after it whatever call of a port went wrong once. */
export interface Scenario {
  readonly name: string;
  readonly sends: readonly unknown[];
  /** Stands between the client and the service. */
  readonly between?: (service: Fetch) => Fetch;
  /** Ids of the commands and how each must have ended. */
  readonly ends: Readonly<Record<string, End>>;
  /** What must be true of the provider. */
  readonly effect: (provider: ServiceProvider) => Promise<void>;
}

const description = async (provider: ServiceProvider, wanted: string): Promise<void> => {
  const [container] = await provider.records("containers");
  expect(container).toMatchObject({ description: wanted, task_id: null });
};

const throttledOnce = (service: Fetch): Fetch => {
  let asked = 0;
  return async (request) => {
    asked += 1;
    return asked === 1
      ? json(429, { message: "slow down" }, { "retry-after": "7" })
      : service(request);
  };
};

const nothingToDo =
  (service: Fetch): Fetch =>
  async (request) =>
    request.method === "PATCH" ? json(200, { tasks: [] }) : service(request);

/** Commands that are over when the provider has answered. */
export const IMMEDIATE: readonly Scenario[] = [
  {
    name: "an operation that answers at once",
    sends: [requests.updatePolicy("c1")],
    ends: { c1: "CommandSucceeded" },
    effect: async (provider) => {
      expect((await provider.records("lifecycle_policies"))[0].status).toBe("paused");
    },
  },
  {
    name: "resuming an instance, which cannot be done twice",
    sends: [requests.resumeInstance("c1")],
    ends: { c1: "CommandSucceeded" },
    effect: async (provider) => {
      const instances = await provider.records("instances");
      const resumed = instances.find(({ id }) => id === requests.SUSPENDED_INSTANCE);
      expect(resumed.vm_state).toBe("active");
    },
  },
  {
    name: "an operation that answers with an empty list of tasks",
    sends: [requests.updateContainer("c1")],
    between: nothingToDo,
    ends: { c1: "CommandSucceeded" },
    effect: async () => undefined,
  },
  {
    name: "a second attempt after a throttled one",
    sends: [requests.updatePolicy("c1")],
    between: throttledOnce,
    ends: { c1: "CommandSucceeded" },
    effect: async (provider) => {
      expect((await provider.records("lifecycle_policies"))[0].status).toBe("paused");
    },
  },
  {
    name: "creating a storage event",
    sends: [requests.createEvent("c1")],
    ends: { c1: "CommandSucceeded" },
    effect: async (provider) => {
      const events = await provider.records("storage_events");
      expect(events.filter(({ bytes }) => bytes === "700")).toHaveLength(1);
    },
  },
  {
    name: "a request that is refused by the provider",
    sends: [requests.updateEvent("c1", { bucket_name: "no-such" })],
    ends: { c1: "CommandFailed" },
    effect: async () => undefined,
  },
  {
    name: "a guard that does not hold",
    sends: [
      requests.resumeInstance("c1", {
        guards: [{ network: NETWORK, key: "cost-center", equals: "games" }],
      }),
    ],
    ends: { c1: "CommandCancelled" },
    effect: async (provider) => {
      const instances = await provider.records("instances");
      const suspended = instances.find(({ id }) => id === requests.SUSPENDED_INSTANCE);
      expect(suspended.vm_state).toBe("suspended");
    },
  },
  {
    name: "a dry run behind a guard that holds",
    sends: [
      requests.updatePolicyWith("c1", {
        guards: [{ network: NETWORK, key: "cost-center", equals: "platform" }],
        dryRun: true,
      }),
    ],
    ends: { c1: "CommandSucceeded" },
    effect: async (provider) => {
      expect((await provider.records("lifecycle_policies"))[0].status).toBe("active");
    },
  },
  {
    name: "a command that waits for one that fails",
    sends: [
      requests.updatePolicyWith("c2", { after: ["c1"] }),
      requests.updateEvent("c1", { bucket_name: "no-such" }),
    ],
    ends: { c1: "CommandFailed", c2: "CommandCancelled" },
    effect: async (provider) => {
      expect((await provider.records("lifecycle_policies"))[0].status).toBe("active");
    },
  },
  {
    name: "a request that breaks the contract",
    sends: [requests.updateContainer("c1", { timeout: 999 })],
    ends: { c1: "CommandRejected" },
    effect: (provider) => description(provider, ""),
  },
];

/** Commands whose background tasks are followed. */
export const WITH_TASKS: readonly Scenario[] = [
  {
    name: "an operation that answers with a task",
    sends: [requests.updateContainer("c1")],
    ends: { c1: "CommandSucceeded" },
    effect: (provider) => description(provider, "c1"),
  },
  {
    name: "a task that ends in ERROR",
    sends: [requests.updateContainer("c1", { image: "registry.invalid/image:1" })],
    ends: { c1: "CommandFailed" },
    effect: (provider) => description(provider, ""),
  },
  {
    name: "two commands in one lane",
    sends: ["c1", "c2"].map((id) => requests.updateContainer(id)),
    ends: { c1: "CommandSucceeded", c2: "CommandSucceeded" },
    effect: (provider) => description(provider, "c2"),
  },
  {
    name: "a command that waits for another one's task, in the same lane",
    sends: [requests.updateContainer("c2", {}, { after: ["c1"] }), requests.updateContainer("c1")],
    ends: { c1: "CommandSucceeded", c2: "CommandSucceeded" },
    effect: (provider) => description(provider, "c2"),
  },
  {
    name: "creating a router",
    sends: [requests.createRouter("c1", { interfaces: [{ subnet_id: requests.SUBNET }] })],
    ends: { c1: "CommandSucceeded" },
    effect: async (provider) => {
      const routers = await provider.records("routers");
      expect(routers.filter(({ name }) => name === "new_router")).toHaveLength(1);
    },
  },
];

export interface Fault {
  readonly nth: number;
  readonly kind: FaultKind;
}

/** Runs a scenario to its end with one fault on the way, or none. */
export const runScenario = async (
  scenario: Scenario,
  fault?: Fault,
): Promise<{
  readonly world: World;
  readonly faults: Faults;
  readonly check: () => Promise<void>;
}> => {
  const faults = createFaults();
  if (fault) faults.strike(fault.nth, fault.kind);
  let service: ServiceProvider | undefined;
  const world = await createWorld({
    around: faults.around,
    provider: async (clock) => {
      service = await startProvider(clock, TASK_MS);
      return { ...service, fetch: scenario.between?.(service.fetch) ?? service.fetch };
    },
  });
  for (const request of scenario.sends) await world.send(request);
  await world.untilQuiet();
  return { world, faults, check: async () => service && scenario.effect(service) };
};
