import * as z from "zod";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { BLIND } from "../plan/actors.ts";
import { CONFIG_STORAGE, type ConfigVersion, type Wanted } from "../plan/configs.ts";

const eventSchema = z.object({
  client_id: z.number(),
  storage_name: z.string().optional(),
  bucket_name: z.string().optional(),
  bytes: z.string().optional(),
});

const EVENT_PATH = "/storage/notifications/v1/event";
const EVENT = { name: "reaching_used_space", storage_name: CONFIG_STORAGE };
const MAX_SYNC_MS = 10 * 60_000;
const SYNC_RETRY_MS = 10_000;
/** Whatever a sync has sent has taken effect by then: as long as it may last, and the settle time. */
const LAST_EFFECT_MS = 7 * 60_000;

const actual = async ({ provider }: Cloud): Promise<readonly Wanted[]> =>
  [...(await provider.store.load())]
    .filter(([key]) => key.startsWith("storage_events/"))
    .map(([, text]) => eventSchema.parse(JSON.parse(text)))
    .filter(({ client_id, storage_name }) => client_id === 1 && storage_name === CONFIG_STORAGE)
    .map(({ bucket_name = "", bytes = "" }) => ({ bucket_name, bytes }));

const textOf = (thresholds: readonly Wanted[]): string =>
  thresholds
    .map(({ bucket_name, bytes }) => `${bucket_name} ${bytes}`)
    .sort()
    .join(", ");

/**
 * An invalid config changes nothing: whoever changes something has read a valid one last, and whoever
 * deletes something one that prunes.
 */
export const watchThresholds = ({ provider, configs, versions, chronicle }: Cloud): void => {
  provider.onRequest(({ caller: { name }, isJobMutation, method }) => {
    const read = versions.find(({ number }) => String(number) === configs.lastReadBy(name));
    const isAllowed = read?.wanted && (read.isPruning || method !== "DELETE");
    if (!isJobMutation || isAllowed) return;
    const text = `${name} sends a ${method}, and the config that it has read does not ask for it`;
    chronicle.violations.push({ invariant: 7, text });
  });
};

interface SyncEnd {
  /** Requests of all syncs meanwhile that could change something. */
  readonly mutations: number;
  readonly violations: readonly string[];
}

/** One invocation of the sync; false when it failed or is still under way at `endsAt`. */
const invokeSync = async ({ jobs, timeline }: Cloud, endsAt: number): Promise<boolean> => {
  let isDone: boolean | undefined;
  void jobs.syncNow().then((done) => {
    isDone = done;
  });
  while (isDone === undefined && timeline.now() < endsAt) {
    await timeline.runUntil(timeline.now() + 1_000);
  }
  return isDone ?? false;
};

/**
 * Runs one sync to its end. A scheduled sync may be at work at the same moment, or a dead one may
 * still hold the lease: a sync that fails for that reason is called again.
 */
const syncOnce = async (cloud: Cloud): Promise<SyncEnd> => {
  const { timeline, provider } = cloud;
  const before = provider.jobMutations();
  const endsAt = timeline.now() + MAX_SYNC_MS;
  let isDone = await invokeSync(cloud, endsAt);
  while (!isDone && timeline.now() < endsAt) {
    await timeline.runUntil(timeline.now() + SYNC_RETRY_MS);
    isDone = await invokeSync(cloud, endsAt);
  }
  const mutations = provider.jobMutations() - before;
  return { mutations, violations: isDone ? [] : ["a sync does not come to its end"] };
};

/** What is to be there: what is wanted, and what is left alone where nothing is pruned. */
const expected = (
  { wanted = [], isPruning }: ConfigVersion,
  before: readonly Wanted[],
): readonly Wanted[] => {
  const names = new Set(wanted.map(({ bucket_name }) => bucket_name));
  return isPruning
    ? wanted
    : [...wanted, ...before.filter(({ bucket_name }) => !names.has(bucket_name))];
};

/** A change of somebody else is told as drift and undone, and what is no drift is not told as such. */
const checkDrift = async (cloud: Cloud, newest: ConfigVersion): Promise<readonly string[]> => {
  const { bus, faults, provider, jobAccount } = cloud;
  const drifts = (): number =>
    new Set(
      bus.seen().flatMap(({ detailType, id }) => (detailType === "ThresholdsDrifted" ? [id] : [])),
    ).size;
  const toldBefore = drifts();
  // An old request that comes late has changed something, whoever had sent it.
  const mayComeLate = faults.struck.some(
    ({ kind, place }) => kind === "frozen" || (kind === "stalls" && place.includes("/storage/")),
  );
  const untrue =
    toldBefore > 0 && !mayComeLate ? ["told of drift, and nobody had changed anything"] : [];
  // What cannot be listed is taken to be as it was left.
  if (jobAccount === BLIND) return untrue;
  const [first] = newest.wanted ?? [];
  // What somebody adds is none where nothing is pruned.
  if (!first && !newest.isPruning) return untrue;
  const before = textOf(await actual(cloud));
  const target = { ...EVENT, bucket_name: first?.bucket_name ?? "b9", bytes: 1 };
  await provider.meddle(first ? "DELETE" : "POST", EVENT_PATH, JSON.stringify(target));
  const { violations } = await syncOnce(cloud);
  const found = drifts() - toldBefore;
  const after = textOf(await actual(cloud));
  return [
    ...untrue,
    ...violations,
    ...(found === 1 ? [] : [`drift of one kind was told ${found} times`]),
    ...(after === before ? [] : [`drift was left: ${after}`]),
  ];
};

/**
 * Invariant 7: a sync right after a sync plans nothing, and what it leaves is what the newest config
 * asks for. An invalid config changes nothing.
 */
export const checkThresholds = async (cloud: Cloud): Promise<readonly Violation[]> => {
  const newest = cloud.configs.newest();
  if (!newest) return [];
  const version = cloud.versions.find(({ number }) => String(number) === newest.version);
  const broken: string[] = [];
  await cloud.timeline.runUntil(cloud.timeline.now() + LAST_EFFECT_MS);
  const wanted = version?.wanted && expected(version, await actual(cloud));
  const before = textOf(await actual(cloud));
  const first = await syncOnce(cloud);
  const second = await syncOnce(cloud);
  const after = textOf(await actual(cloud));
  broken.push(...first.violations, ...second.violations);
  if (second.mutations > 0) {
    broken.push(`a sync right after a sync sends ${second.mutations} requests`);
  }
  if (!wanted && first.mutations > 0) broken.push("an invalid config has something changed");
  if (!wanted && after !== before) broken.push(`an invalid config changed ${before} to ${after}`);
  if (wanted && after !== textOf(wanted)) {
    broken.push(`the config wants ${textOf(wanted)}, and there is ${after}`);
  }
  if (version?.wanted) broken.push(...(await checkDrift(cloud, version)));
  return broken.map((text) => ({ invariant: 7, text }));
};
