import * as z from "zod";
import {
  getRouter,
  createRouter as operation,
  routerCreateSchema,
  type routerSchema,
} from "../../contract/routers.ts";
import { listTasks, type taskSchema } from "../../contract/tasks.ts";
import { canBeFollowed } from "../request-limits.ts";
import { type CommandOperation, isRefused, type NextStep, type Uncertainty } from "./operation.ts";

type WantedRouter = z.output<typeof routerCreateSchema>;
type Router = z.output<typeof routerSchema>;
type Task = z.output<typeof taskSchema>;

/** How far the provider's clock may be behind ours without hiding our task from the list. */
const CLOCK_SKEW_MS = 60_000;
/** A router exists seconds after its task began; until then there is nothing to compare. */
const LOOK_AGAIN_MS = 5_000;
const PAGE_SIZE = 1000;

const sameSet = (left: readonly string[], right: readonly string[]): boolean => {
  const a = new Set(left);
  const b = new Set(right);
  return a.size === b.size && [...a].every((item) => b.has(item));
};

/** Names are not unique; name, interfaces and routes together are what we asked for. */
const isWanted = (router: Router, wanted: WantedRouter): boolean =>
  router.name === wanted.name &&
  sameSet(
    router.interfaces.flatMap(({ ip_assignments }) => ip_assignments.map((ip) => ip.subnet_id)),
    (wanted.interfaces ?? []).map(({ subnet_id }) => subnet_id),
  ) &&
  sameSet(
    router.routes.map(({ destination, nexthop }) => `${destination} ${nexthop}`),
    (wanted.routes ?? []).map(({ destination, nexthop }) => `${destination} ${nexthop}`),
  );

const placeSchema = z.object({ project_id: z.int(), region_id: z.int() });

/** Every create_router task of this project and region since the first uncertain send. */
const tasksSince = async ({ account, request, firstSentAt, signal }: Uncertainty) => {
  const { project_id, region_id } = placeSchema.parse(request.params);
  const found: Task[] = [];
  for (;;) {
    const page = await account.client.call(
      listTasks,
      {
        params: {},
        query: {
          task_type: "create_router",
          project_id: [project_id],
          region_id: [region_id],
          from_timestamp: new Date(firstSentAt - CLOCK_SKEW_MS).toISOString(),
          order_by: "asc",
          limit: PAGE_SIZE,
          offset: found.length,
        },
        body: undefined,
      },
      signal,
    );
    found.push(...page.results);
    if (page.results.length < PAGE_SIZE || found.length >= page.count) return found;
  }
};

type Candidate = "ours" | "pending" | "other";

const judge = async (uncertainty: Uncertainty, task: Task): Promise<Candidate> => {
  if (task.state === "ERROR" || (await uncertainty.isClaimed(task.id))) return "other";
  const routerId = task.created_resources?.routers?.[0];
  if (routerId === undefined) return task.state === "FINISHED" ? "other" : "pending";
  const place = placeSchema.parse(uncertainty.request.params);
  const named = getRouter.params.safeParse({ ...place, router_id: String(routerId) });
  // What cannot be asked for may be ours for all that.
  if (!named.success || !canBeFollowed([task.id])) return "pending";
  const router = await uncertainty.account.client.call(
    getRouter,
    { params: named.data, query: {}, body: undefined },
    uncertainty.signal,
  );
  return isWanted(router, z.parse(routerCreateSchema, uncertainty.request.body)) ? "ours" : "other";
};

/** Looks for the router of an uncertain send; only a proven absence allows another send. */
const lookForEffect = async (uncertainty: Uncertainty): Promise<NextStep> => {
  const { account, lastSentAt, now } = uncertainty;
  if (!account.canList) {
    return {
      kind: "unknown",
      rule: "whether the router was created cannot be looked up: the account's interface lists no tasks",
    };
  }
  const ours: string[] = [];
  let pending = 0;
  for (const task of await tasksSince(uncertainty)) {
    const candidate = await judge(uncertainty, task);
    if (candidate === "ours") ours.push(task.id);
    if (candidate === "pending") pending += 1;
  }
  const lookAgain = { kind: "wait", until: now + LOOK_AGAIN_MS } as const;
  if (pending > 0) return lookAgain;
  if (ours.length > 1) {
    return { kind: "unknown", rule: `${ours.length} routers fit: ${ours.join(", ")}` };
  }
  if (ours.length === 1) return { kind: "adopt", taskIds: ours };
  return now >= lastSentAt + account.settleMs ? { kind: "send" } : lookAgain;
};

export const createRouter: CommandOperation = {
  operation,
  beforeSendingAgain: lookForEffect,
  refusedAgain: isRefused,
};
