import type {
  ChangeSet,
  NewChangeSet,
  Stack,
  StackEvent,
  Stacks,
} from "../../../../lib/cli/stage/stacks.ts";

/** What the fake AWS does; each has a default of a deployment that succeeds. */
export interface FakeAws {
  readonly stack?: Stack | undefined;
  readonly bucket?: string | undefined;
  readonly missingParameters?: readonly string[];
  /** The states of each change set, in the order of the reads; the last one repeats. */
  readonly changeSets?: readonly ChangeSet[];
  /** The events of an execution, and the status that the stack has at its end. */
  readonly execution?: { readonly events: readonly StackEvent[]; readonly status: string };
  /** Called before each call; may throw an error of the SDK. */
  readonly before?: (call: string) => void;
}

const CHANGED: ChangeSet = {
  kind: "ready",
  changes: [
    { action: "add", type: "AWS::SQS::Queue", logicalId: "Queue", properties: [], isKept: false },
  ],
};

export const eventOf = (fields: Partial<StackEvent>): StackEvent => ({
  id: `event-of-${fields.logicalId ?? "Queue"}`,
  logicalId: "Queue",
  type: "AWS::SQS::Queue",
  status: "UPDATE_COMPLETE",
  reason: undefined,
  ...fields,
});

/** CloudFormation, S3 and SSM in memory, with a record of the calls that change something. */
export const createFakeStacks = (given: FakeAws = {}) => {
  const { changeSets = [CHANGED], execution, before = () => undefined } = given;
  let stack = given.stack;
  let bucket = given.bucket;
  let events: readonly StackEvent[] = stack ? [eventOf({ id: "earlier" })] : [];
  let reads = 0;
  const names = new Set<string>();
  const changes: string[] = [];
  const created: NewChangeSet[] = [];
  const stacks: Stacks = {
    async find() {
      before("find");
      return stack;
    },
    async ownBucket() {
      before("ownBucket");
      return bucket === undefined ? undefined : { name: bucket, owner: "123456789012" };
    },
    async missingParameters() {
      before("missingParameters");
      return given.missingParameters ?? [];
    },
    async upload(_bucket, key) {
      before("upload");
      changes.push(`upload ${key}`);
    },
    async createChangeSet(changeSet) {
      before("createChangeSet");
      created.push(changeSet);
      names.add(changeSet.name);
      if (changeSet.isNew) stack = { status: "REVIEW_IN_PROGRESS", outputs: {} };
      changes.push("create the change set");
    },
    async changeSet() {
      before("changeSet");
      reads += 1;
      return changeSets[Math.min(reads, changeSets.length) - 1] ?? CHANGED;
    },
    async removeChangeSet(_stackName, name) {
      before("removeChangeSet");
      names.delete(name);
      changes.push("remove the change set");
    },
    async removeEmptyStack() {
      before("removeEmptyStack");
      stack = undefined;
      changes.push("remove the empty stack");
    },
    async execute(_stackName, name) {
      before("execute");
      names.delete(name);
      bucket ??= "zips";
      events = [...events, ...(execution?.events ?? [eventOf({ id: `end-of-${name}` })])];
      stack = { status: execution?.status ?? "UPDATE_COMPLETE", outputs: { EventBusArn: "arn" } };
      changes.push("execute the change set");
    },
    async eventsAfter(_stackName, id) {
      before("eventsAfter");
      return events.slice(events.findIndex((event) => event.id === id) + 1);
    },
  };
  return {
    stacks,
    changes,
    created,
    /** Change sets that exist. */
    changeSetNames: () => [...names],
    stack: () => stack,
  };
};
