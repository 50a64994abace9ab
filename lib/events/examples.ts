import type { JsonObject } from "../platform/ports/ledger.ts";
import { type DetailType, metadataSchema } from "./catalogue.ts";
import { EVENT_SOURCE } from "./envelope.ts";
import { eventOf, type Fact } from "./event.ts";
import { isRequestType, type RequestType } from "./request-envelope.ts";

/** An event as a sender or a subscriber writes it in JSON. */
interface ExampleEvent {
  readonly source: string;
  readonly "detail-type": string;
  readonly detail: JsonObject;
}

const example = <T extends DetailType, Data extends JsonObject>(
  fact: Fact<T, Data>,
): ExampleEvent => ({
  source: EVENT_SOURCE,
  "detail-type": fact.detailType,
  detail: eventOf(fact).detail,
});

/** A day of November 2026, at an hour and minute in UTC. */
const at = (time: string): number => Date.parse(`2026-11-21T${time}Z`);
const atText = (time: string): string => new Date(at(time)).toISOString();

const account = "main";
const SENDER = "111122223333";
const NETWORK_ID = "b39792c3-3160-4356-912e-ba396c95cdcf";
const TASK_ID = "50f53a35-42ed-40c4-82b2-5a37fb3e00bc";
const ROUTER_ID = "e7944e55-f957-413d-aa56-fdc876543113";
const AI_TASK_ID = "2cc1a5b4-9f1c-4d3d-8c2e-3e4b2f6a7d10";

/** Metadata of every event about one command. */
const aboutCommand = (commandId: string, lane: string) => ({
  subject: lane,
  correlationId: commandId,
  causationId: "0ac9b3ba-5d3a-4a9f-8f1d-0c2b0d8d5f6e",
  account,
  sender: SENDER,
  commandId,
});

const router = {
  operation: "create-router",
  params: { project_id: 1234567, region_id: 76 },
  lane: "main/router/1234567/76",
};
const routerEnd = {
  ...router,
  attempts: 1,
  lostReplies: 0,
  taskIds: [TASK_ID],
  durationMs: 5_312,
};
const routerFact = { ...aboutCommand("order-4711", router.lane), identity: ["order-4711"] };

const instance = {
  operation: "resume-instance",
  params: {
    project_id: 1234567,
    region_id: 76,
    instance_id: "6c6aa80f-7836-4dc2-a2ae-125e248be476",
  },
  lane: "main/instance/1234567/76/6c6aa80f-7836-4dc2-a2ae-125e248be476",
};
const instanceFact = { ...aboutCommand("invoice-2026-118", instance.lane), identity: ["invoice"] };

const taskFact = {
  ...aboutCommand("order-4711", router.lane),
  identity: [account, TASK_ID],
  time: at("09:00:05.240"),
};
const task = { operation: "create-router", lane: router.lane, taskId: TASK_ID, durationMs: 4_871 };

/** Metadata of every event of one run of a scheduled job. */
const aboutRun = (run: string, subject: string) => ({
  subject,
  correlationId: run,
  causationId: run,
  account,
});

const syncFact = {
  ...aboutRun("7f0d1c5e-6a7b-4c8d-9e0f-1a2b3c4d5e6f", "thresholds/main"),
  identity: [account, "", "12"],
  time: at("09:00:03.100"),
};
const thresholdsFile = {
  name: "s3://skyhook-prod-config/thresholds.yaml",
  version: "3sL4kqtJlcpXroDTDmJ.rmSpXd3dIbrHY",
};
const sync = {
  cause: "object-created",
  source: thresholdsFile,
  prune: false,
  actualFrom: "list",
} as const;
const usedSpace = {
  action: "update",
  name: "reaching_used_space",
  storage_name: "my-storage-prod",
  bucket_name: "photos",
  before: { bytes: "536870912000" },
  after: { bytes: "1099511627776" },
} as const;

const priceRun = "prices/main/2026-11-21T09:00:00.000Z";
const priceFact = {
  ...aboutRun(priceRun, "prices/main"),
  identity: [account, "2026-11-21T09:00:00.000Z"],
  time: at("09:00:07.400"),
};

const aiTaskFact = {
  ...aboutRun(`ai-task/main/${AI_TASK_ID}`, `main/${AI_TASK_ID}`),
  identity: [account, AI_TASK_ID],
  time: at("09:04:00.250"),
};
const listFact = {
  ...aboutRun("accounts/main/ai-task-list-refused/2026-11-21T09:00:00.000Z", "accounts/main"),
  identity: [account, "list"],
};
const keyFact = {
  ...aboutRun("accounts/main/key-refused/2026-11-21T09:00:00.000Z", "accounts/main"),
  identity: [account, "key"],
};

/**
 * An example of each event; the compiler checks them against the catalogue. Written as a call without side effects, so
 * that a bundler leaves the examples out of a program that does not use them.
 */
export const EVENT_EXAMPLES = /* @__PURE__ */ ((): Readonly<Record<DetailType, ExampleEvent>> => ({
  CommandAccepted: example({
    ...routerFact,
    detailType: "CommandAccepted",
    time: at("09:00:00.000"),
    data: { ...router, deadline: atText("11:00:00.000") },
  }),
  CommandRejected: example({
    ...routerFact,
    account: undefined,
    detailType: "CommandRejected",
    time: at("09:00:00.000"),
    data: {
      operation: "create-router",
      reason: "invalid",
      problems: [
        { path: "params.region_id", rule: "required" },
        { path: "deadline", rule: "a time such as 2026-01-31T12:00:00Z" },
      ],
    },
  }),
  CommandSucceeded: example({
    ...routerFact,
    detailType: "CommandSucceeded",
    time: at("09:00:05.312"),
    data: { ...routerEnd, outcome: "done", createdResources: { routers: [ROUTER_ID] } },
  }),
  CommandFailed: example({
    ...routerFact,
    detailType: "CommandFailed",
    time: at("09:05:01.000"),
    data: {
      ...routerEnd,
      attempts: 2,
      lostReplies: 1,
      taskIds: [],
      durationMs: 301_000,
      reason: "unknown-outcome",
      problems: [
        {
          path: "",
          rule: "request 1 got no clear reply (timed-out); the account's API lists no tasks, so Skyhook cannot find out whether the router was created",
        },
      ],
    },
  }),
  CommandCancelled: example({
    ...instanceFact,
    detailType: "CommandCancelled",
    time: at("09:00:00.480"),
    data: {
      ...instance,
      attempts: 0,
      lostReplies: 0,
      taskIds: [],
      durationMs: 480,
      reason: "guard",
      problems: [{ path: "guards.0", rule: 'tag cost-center must be "platform"' }],
      tag: { key: "cost-center", value: "research", read_only: false },
    },
  }),
  CommandResolved: example({
    ...routerFact,
    detailType: "CommandResolved",
    time: at("10:12:30.000"),
    data: { ...router, applied: true, note: `router ${ROUTER_ID} exists` },
  }),
  TaskFinished: example({
    ...taskFact,
    detailType: "TaskFinished",
    data: { ...task, createdResources: { routers: [ROUTER_ID] } },
  }),
  TaskFailed: example({
    ...taskFact,
    detailType: "TaskFailed",
    data: {
      ...task,
      reason: "task-failed",
      problems: [{ path: "", rule: "Quota exceeded for resources: router" }],
    },
  }),
  ThresholdsSynced: example({
    ...syncFact,
    detailType: "ThresholdsSynced",
    data: {
      ...sync,
      outcome: "partial",
      counts: { created: 0, updated: 1, deleted: 0, unchanged: 14, failed: 1, left: 0 },
      changes: [
        {
          action: "create",
          name: "reaching_files_quantity",
          bucket_name: "photos",
          after: { count: "1000000" },
          outcome: "failed",
          problem: "create-storage-event: 400 refused: limit too low",
        },
        { ...usedSpace, outcome: "done" },
      ],
    },
  }),
  ThresholdsDrifted: example({
    ...syncFact,
    detailType: "ThresholdsDrifted",
    data: {
      ...sync,
      cause: "schedule",
      counts: { missing: 0, different: 1, unwanted: 0 },
      differences: [usedSpace],
    },
  }),
  ThresholdsRejected: example({
    ...syncFact,
    detailType: "ThresholdsRejected",
    data: {
      cause: "object-created",
      source: thresholdsFile,
      reason: "invalid",
      problemCount: 1,
      problems: [
        {
          path: "thresholds.0.count",
          rule: "not allowed with reaching_used_space; use bytes",
          line: 6,
        },
      ],
    },
  }),
  WatchlistRejected: example({
    ...priceFact,
    detailType: "WatchlistRejected",
    data: {
      bucket: atText("09:00:00"),
      source: { name: "s3://skyhook-prod-config/watchlist.yaml", version: "null" },
      problemCount: 1,
      problems: [
        { path: "items.2.name", rule: "duplicate name: each item needs its own", line: 14 },
      ],
    },
  }),
  PricesCaptured: example({
    ...priceFact,
    detailType: "PricesCaptured",
    data: {
      bucket: atText("09:00:00"),
      items: 4,
      first: 0,
      changed: 1,
      unchanged: 2,
      notCompared: 0,
      failed: 1,
      failures: [
        { name: "gpu", problem: "get-gpu-cluster-price: 404 not-found: server not found" },
      ],
    },
  }),
  PriceChanged: example({
    ...priceFact,
    subject: "prices/main/web-server",
    identity: [account, "web-server", "7"],
    detailType: "PriceChanged",
    data: {
      name: "web-server",
      kind: "instance",
      number: 7,
      before: { currency: "EUR", per_hour: "0.0325", per_month: "23.40" },
      after: { currency: "EUR", per_hour: "0.035", per_month: "25.20" },
      percent: "7.69",
      percentNumber: 7.69,
      categories: [
        { category: "total.per_hour", before: "0.0325", after: "0.035" },
        { category: "total.per_month", before: "23.40", after: "25.20" },
        { category: "per_month.flavor", before: "21.60", after: "23.40" },
        { category: "per_hour.flavor", before: "0.03", after: "0.0325" },
      ],
      categoryCount: 4,
      readAt: atText("09:00:06.900"),
      previousReadAt: "2026-11-02T14:00:05.120Z",
    },
  }),
  AiTaskEnded: example({
    ...aiTaskFact,
    detailType: "AiTaskEnded",
    data: {
      taskId: AI_TASK_ID,
      status: "SUCCESS",
      taskName: "transcription",
      progress: 100,
      taskData: { task_name: "transcription", url: "https://media.example.com/talk.mp4" },
    },
  }),
  AiTaskVanished: example({
    ...aiTaskFact,
    detailType: "AiTaskVanished",
    data: { taskId: AI_TASK_ID, taskName: "transcription", missingSince: atText("08:59:00.250") },
  }),
  AiTaskListRefused: example({
    ...listFact,
    detailType: "AiTaskListRefused",
    time: at("09:00:00"),
    data: {
      since: atText("09:00:00"),
      status: 403,
      problem: "list-ai-tasks: 403 forbidden",
    },
  }),
  AiTaskListAccepted: example({
    ...listFact,
    detailType: "AiTaskListAccepted",
    time: at("10:31:00"),
    data: { since: atText("10:31:00"), refusedSince: atText("09:00:00") },
  }),
  AccountKeyRefused: example({
    ...keyFact,
    detailType: "AccountKeyRefused",
    time: at("09:00:00"),
    data: { since: atText("09:00:00") },
  }),
  AccountKeyAccepted: example({
    ...keyFact,
    detailType: "AccountKeyAccepted",
    time: at("09:02:30"),
    data: { since: atText("09:02:30"), refusedSince: atText("09:00:00") },
  }),
  AccountPaused: example({
    ...aboutRun("accounts/main/paused/2026-11-21T09:00:00.000Z", "accounts/main"),
    identity: [account, "pause"],
    detailType: "AccountPaused",
    time: at("09:00:00"),
    data: { since: atText("09:00:00"), until: atText("09:10:00") },
  }),
}))();

const metadata = {
  id: "0ac9b3ba-5d3a-4a9f-8f1d-0c2b0d8d5f6e",
  commandId: "order-4711",
  correlationId: "order-4711",
  time: atText("08:59:59"),
};

/** An example of each request. */
export const REQUEST_EXAMPLES = {
  CommandRequested: {
    source: "shop",
    "detail-type": "CommandRequested",
    detail: {
      metadata,
      data: {
        operation: "create-router",
        account,
        params: router.params,
        body: { name: "shop-router", interfaces: [] },
        deadline: atText("11:00:00"),
        after: ["order-4710"],
        guards: [
          {
            network: { ...router.params, network_id: NETWORK_ID },
            key: "cost-center",
            equals: "platform",
          },
        ],
        dryRun: false,
      },
    },
  },
  TaskFollowRequested: {
    source: "shop",
    "detail-type": "TaskFollowRequested",
    detail: {
      metadata: { ...metadata, commandId: "follow-4711" },
      data: { taskId: TASK_ID, account, deadline: atText("11:00:00"), after: [] },
    },
  },
} as const satisfies Readonly<Record<string, ExampleEvent>>;

/** What EventBridge adds to an event of the examples. */
const envelope = {
  version: "0",
  account: "123456789012",
  id: "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
  region: "eu-central-1",
  resources: [],
};

/** An example of a request as its sender writes it, or of an event as a subscriber gets it. */
export const exampleOf = (type: DetailType | RequestType) => {
  if (isRequestType(type)) return REQUEST_EXAMPLES[type];
  const { source, "detail-type": detailType, detail } = EVENT_EXAMPLES[type];
  const time = metadataSchema.parse(detail.metadata).time.replace(/\.\d+Z$/, "Z");
  return { ...envelope, source, "detail-type": detailType, time, detail };
};
