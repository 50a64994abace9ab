import * as z from "zod";
import { getInstance } from "../contract/instances.ts";
import { getPool } from "../contract/load-balancer-pools.ts";
import type { AfterAmbiguousSend, Mutation, Reply } from "../contract/operation.ts";
import { getRouter, routerCreateSchema } from "../contract/routers.ts";
import { listStorageEvents, storageEventSchema } from "../contract/storage-events.ts";
import { listTasks } from "../contract/tasks.ts";
import type { Account } from "../provider/accounts.ts";
import { ProviderError } from "../provider/provider-error.ts";
import { canBeFollowed } from "./request.ts";
import type { CommandRequestBody } from "./request-body.ts";

/**
 * Input of a strategy: the request, the sends with unknown outcomes, and access to the provider.
 */
export interface Uncertainty {
  readonly account: Account;
  readonly request: CommandRequestBody;
  /** Epoch ms: no send with an unknown outcome left before the first or after the last. */
  readonly firstSentAt: number;
  readonly lastSentAt: number;
  readonly now: number;
  /** Whether a task of the provider already belongs to a command of ours. */
  readonly isClaimed: (taskId: string) => Promise<boolean>;
  readonly signal: AbortSignal;
}

export type NextStep =
  | { readonly kind: "send" }
  | { readonly kind: "wait"; readonly until: number }
  /** The effect was found: these tasks are the command's. */
  | { readonly kind: "adopt"; readonly taskIds: readonly string[] }
  | { readonly kind: "unknown"; readonly rule: string };

export type RefusalMeaning =
  /** The earlier send took effect, so the provider refused this one. */
  | { readonly kind: "done" }
  | { readonly kind: "refused" }
  | { readonly kind: "unknown"; readonly rule: string };

/** Decisions about a command while the outcome of an earlier send is unknown. */
interface Strategy {
  /**
   * The step before the next send.
   * @throws ProviderError when the provider cannot be asked now
   */
  readonly beforeResend: (uncertainty: Uncertainty) => Promise<NextStep>;
  /**
   * The meaning of a clear refusal of the next send.
   * @throws ProviderError when the provider cannot be asked now
   */
  readonly interpretRefusal: (
    uncertainty: Uncertainty,
    refusal: ProviderError,
  ) => Promise<RefusalMeaning>;
}

/** Pause before the next check for the end of a pool's task, or for a router that may still appear. */
const CHECK_AGAIN_MS = 5_000;
/** How far the provider's clock may be behind ours without hiding our task from the list. */
const CLOCK_SKEW_MS = 60_000;
const PAGE_SIZE = 1000;

const resend = async (): Promise<NextStep> => ({ kind: "send" });

/** What a read returns, or undefined if the provider answers that it does not exist. */
const ifItExists = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ProviderError && error.code === "not-found") return undefined;
    throw error;
  }
};

/** The refusal has nothing to do with the earlier send. */
const alwaysRefused = async (): Promise<RefusalMeaning> => ({ kind: "refused" });

/**
 * Only a suspended instance can be resumed, so a refusal is expected after an earlier send took effect.
 * The instance itself shows whether it did.
 */
const refusedUnlessActive: Strategy["interpretRefusal"] = async (
  { account, request, signal },
  refusal,
) => {
  if (refusal.code !== "refused") return { kind: "refused" };
  const params = z.parse(getInstance.params, request.params);
  const read = { params, query: {}, body: undefined };
  const instance = await account.client.call(getInstance, read, signal);
  return { kind: instance.vm_state === "active" ? "done" : "refused" };
};

/**
 * The earlier send may have started a task on the pool. Sends again only when no task holds the pool. A pool that was
 * deleted meanwhile gives the next send a clear answer.
 */
const resendWhenUnlocked: Strategy["beforeResend"] = async ({ account, request, now, signal }) => {
  const params = z.parse(getPool.params, request.params);
  const read = { params, query: {}, body: undefined };
  const pool = await ifItExists(account.client.call(getPool, read, signal));
  return (pool?.task_id ?? null) === null
    ? { kind: "send" }
    : { kind: "wait", until: now + CHECK_AGAIN_MS };
};

/** The same event with the same limit; an absent name and an empty one are the same. */
const isListed = (
  wanted: z.output<ReturnType<typeof storageEventSchema>>,
  list: Reply<typeof listStorageEvents>,
): boolean =>
  (list[wanted.name] ?? []).some(
    (listed) =>
      listed !== undefined &&
      (listed.storage_name ?? "") === (wanted.storage_name ?? "") &&
      (listed.bucket_name ?? "") === (wanted.bucket_name ?? "") &&
      String(listed.bytes ?? "") === String(wanted.bytes ?? "") &&
      String(listed.count ?? "") === String(wanted.count ?? ""),
  );

/**
 * An event's identity is unique, so a second request cannot create a second one: a 409 says that it
 * exists.
 */
const refusedUnlessCreated: Strategy["interpretRefusal"] = async (
  { account, request, signal },
  refusal,
) => {
  if (refusal.code !== "conflict") return { kind: "refused" };
  // The list shows events of the key's own client only.
  if (!account.canList || request.query.client_id !== undefined) {
    return {
      kind: "unknown",
      rule: "the event exists; Skyhook cannot list it to find out whether this command created it",
    };
  }
  const wanted = z.parse(
    storageEventSchema(),
    z.encode<z.ZodType>(storageEventSchema(), request.body),
  );
  const read = { params: {}, query: {}, body: undefined };
  const list = await account.client.call(listStorageEvents, read, signal);
  return { kind: isListed(wanted, list) ? "done" : "refused" };
};

type Task = Reply<typeof listTasks>["results"][number];

const isSameSet = (left: readonly string[], right: readonly string[]): boolean => {
  const a = new Set(left);
  const b = new Set(right);
  return a.size === b.size && [...a].every((item) => b.has(item));
};

/** Names are not unique, so a router is ours only if name, interfaces and routes match. */
const isWanted = (
  router: Reply<typeof getRouter>,
  wanted: z.output<ReturnType<typeof routerCreateSchema>>,
): boolean =>
  router.name === wanted.name &&
  isSameSet(
    router.interfaces.flatMap(({ ip_assignments }) => ip_assignments.map((ip) => ip.subnet_id)),
    (wanted.interfaces ?? []).map(({ subnet_id }) => subnet_id),
  ) &&
  isSameSet(
    router.routes.map(({ destination, nexthop }) => `${destination} ${nexthop}`),
    (wanted.routes ?? []).map(({ destination, nexthop }) => `${destination} ${nexthop}`),
  );

const regionSchema = z.object({ project_id: z.int(), region_id: z.int() });

/** Every create_router task of this project and region since the first uncertain send. */
const routerTasksSince = async ({ account, request, firstSentAt, signal }: Uncertainty) => {
  const { project_id, region_id } = regionSchema.parse(request.params);
  const found: Task[] = [];
  for (;;) {
    const query = {
      task_type: "create_router",
      project_id: [project_id],
      region_id: [region_id],
      from_timestamp: new Date(firstSentAt - CLOCK_SKEW_MS).toISOString(),
      order_by: "asc" as const,
      limit: PAGE_SIZE,
      offset: found.length,
    };
    const page = await account.client.call(
      listTasks,
      { params: {}, query, body: undefined },
      signal,
    );
    found.push(...page.results);
    if (page.results.length < PAGE_SIZE || found.length >= page.count) return found;
  }
};

/** `unclear`: the task has ended, and its router is not named, or was deleted meanwhile. */
const judgeRouterTask = async (
  { account, request, isClaimed, signal }: Uncertainty,
  task: Task,
): Promise<"ours" | "pending" | "other" | "unclear"> => {
  if (task.state === "ERROR" || (await isClaimed(task.id))) return "other";
  const routerId = task.created_resources?.routers?.[0];
  if (routerId === undefined) return task.state === "FINISHED" ? "unclear" : "pending";
  const region = regionSchema.parse(request.params);
  const named = getRouter.params.safeParse({ ...region, router_id: String(routerId) });
  // A router that no request can name may still be ours.
  if (!named.success || !canBeFollowed([task.id])) return "pending";
  const read = { params: named.data, query: {}, body: undefined };
  const router = await ifItExists(account.client.call(getRouter, read, signal));
  if (!router) return "unclear";
  return isWanted(router, z.parse(routerCreateSchema(), request.body)) ? "ours" : "other";
};

/** Looks for the router of an uncertain send; only a proven absence allows another send. */
const resendUnlessCreated: Strategy["beforeResend"] = async (uncertainty) => {
  const { account, lastSentAt, now } = uncertainty;
  if (!account.canList) {
    return {
      kind: "unknown",
      rule: "the account's API lists no tasks, so Skyhook cannot find out whether the router was created",
    };
  }
  const ours: string[] = [];
  const unclear: string[] = [];
  let pending = 0;
  for (const task of await routerTasksSince(uncertainty)) {
    const verdict = await judgeRouterTask(uncertainty, task);
    if (verdict === "ours") ours.push(task.id);
    if (verdict === "unclear") unclear.push(task.id);
    if (verdict === "pending") pending += 1;
  }
  const checkAgain = { kind: "wait", until: now + CHECK_AGAIN_MS } as const;
  if (pending > 0) return checkAgain;
  if (ours.length > 1) {
    return {
      kind: "unknown",
      rule: `the routers of ${ours.length} tasks fit the request: ${ours.join(", ")}`,
    };
  }
  if (ours.length === 1) return { kind: "adopt", taskIds: ours };
  if (now < lastSentAt + account.ambiguityWindowMs) return checkAgain;
  if (unclear.length === 0) return { kind: "send" };
  return {
    kind: "unknown",
    rule: `task ${unclear[0]} may have created the router, which was deleted, or which the task does not name`,
  };
};

const STRATEGIES: Readonly<Record<AfterAmbiguousSend, Strategy>> = {
  "send-again": { beforeResend: resend, interpretRefusal: alwaysRefused },
  "send-again-unless-done": { beforeResend: resend, interpretRefusal: refusedUnlessActive },
  "send-again-when-unlocked": { beforeResend: resendWhenUnlocked, interpretRefusal: alwaysRefused },
  "conflict-means-created": { beforeResend: resend, interpretRefusal: refusedUnlessCreated },
  "look-for-effect": { beforeResend: resendUnlessCreated, interpretRefusal: alwaysRefused },
};

/** The strategy that the contract declares for the operation. */
export const strategyOf = ({ afterAmbiguousSend }: Mutation): Strategy =>
  STRATEGIES[afterAmbiguousSend];
