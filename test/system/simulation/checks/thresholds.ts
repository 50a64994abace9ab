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

const MAX_SYNC_MS = 10 * 60_000;
const SYNC_RETRY_MS = 10_000;
/** Less than the time between two checks for drift, ms. */
const PROMPT_SYNC_MS = 90_000;
/**
 * Time after which every request of a sync has taken effect: the longest run and the ambiguity
 * window, ms.
 */
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
 * Faults that may delay a sync, by the call that they strike, or at any call. A sync that dies between two calls leaves
 * its lease to the next one.
 */
const AT_SYNC = /storage|thresholds|config|object event|budget|secrets|bus\.publish/;
const ANYWHERE = /429|401|frozen|clock jump|killed|hangs/;

/** Without a fault, a new config is applied by the event about it: soon, not by the next check for drift. */
const watchPromptness = (cloud: Cloud): void => {
  const { timeline, faults, limits, keys, configs, versions, chronicle, plan } = cloud;
  for (const { number, afterMs, wanted } of versions) {
    timeline.after(afterMs + PROMPT_SYNC_MS, () => {
      const isDisturbed =
        plan.provider.crowd !== undefined ||
        limits.struck.length > 0 ||
        keys.replacements() > 0 ||
        faults.struck.some(({ place, kind }) => AT_SYNC.test(place) || ANYWHERE.test(kind));
      if (isDisturbed || !wanted || configs.newest()?.version !== String(number)) return;
      void timeline.standStill(async () => {
        const found = new Set((await actual(cloud)).map((each) => textOf([each])));
        const missing = wanted.filter((each) => !found.has(textOf([each])));
        if (missing.length === 0) return;
        const text = `version ${number} of the config is not applied: ${textOf(missing)}`;
        chronicle.violations.push({ invariant: 7, text });
      });
    });
  }
};

/**
 * An invalid config changes nothing: a machine that changes thresholds has last read a valid config,
 * and one that deletes has read one with `prune`.
 */
export const watchThresholds = (cloud: Cloud): void => {
  const { provider, configs, versions, chronicle } = cloud;
  watchPromptness(cloud);
  provider.onRequest(({ caller: { name }, isJobMutation, method }) => {
    const read = versions.find(({ number }) => String(number) === configs.lastReadBy(name));
    const isAllowed = read?.wanted && (read.isPruning || method !== "DELETE");
    if (!isJobMutation || isAllowed) return;
    const text = `${name} sends a ${method}, which the config that it read does not want`;
    chronicle.violations.push({ invariant: 7, text });
  });
};

interface SyncEnd {
  /** Number of mutations of all syncs meanwhile. */
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
    await timeline.advance(1_000);
  }
  return isDone ?? false;
};

/**
 * Runs one sync to its end. A scheduled sync may be under way, or a dead one may still hold the
 * lease: a sync that fails for that reason is repeated.
 */
const syncOnce = async (cloud: Cloud): Promise<SyncEnd> => {
  const { timeline, provider } = cloud;
  const before = provider.jobMutations();
  const endsAt = timeline.now() + MAX_SYNC_MS;
  let isDone = await invokeSync(cloud, endsAt);
  while (!isDone && timeline.now() < endsAt) {
    await timeline.advance(SYNC_RETRY_MS);
    isDone = await invokeSync(cloud, endsAt);
  }
  const mutations = provider.jobMutations() - before;
  return { mutations, violations: isDone ? [] : ["a sync does not complete"] };
};

/** Expected thresholds: the wanted ones, and without `prune` all others as they were. */
const expected = (
  { wanted = [], isPruning }: ConfigVersion,
  before: readonly Wanted[],
): readonly Wanted[] => {
  const names = new Set(wanted.map(({ bucket_name }) => bucket_name));
  return isPruning
    ? wanted
    : [...wanted, ...before.filter(({ bucket_name }) => !names.has(bucket_name))];
};

/**
 * A change by another client is published as drift and undone. Without such a change no drift is
 * published.
 */
const checkDrift = async (cloud: Cloud, newest: ConfigVersion): Promise<readonly string[]> => {
  const { bus, faults, provider, jobAccount } = cloud;
  const drifts = (): number =>
    new Set(
      bus.seen().flatMap(({ detailType, id }) => (detailType === "ThresholdsDrifted" ? [id] : [])),
    ).size;
  const toldBefore = drifts();
  // A late request may have changed a threshold, whichever function sent it.
  const mayComeLate = faults.struck.some(
    ({ kind, place }) => kind === "frozen" || (kind === "stalls" && place.includes("/storage/")),
  );
  const untrue =
    toldBefore > 0 && !mayComeLate
      ? ["drift was published, but no client had changed a threshold"]
      : [];
  // Without a list the thresholds count as the last sync left them.
  if (jobAccount === BLIND) return untrue;
  const [first] = newest.wanted ?? [];
  // Without `prune`, an added threshold is no drift.
  if (!first && !newest.isPruning) return untrue;
  const before = textOf(await actual(cloud));
  await provider.meddle(first ? "DELETE" : "POST", first?.bucket_name ?? "b9");
  const { violations } = await syncOnce(cloud);
  const found = drifts() - toldBefore;
  const after = textOf(await actual(cloud));
  return [
    ...untrue,
    ...violations,
    ...(found === 1 ? [] : [`one change was published as drift ${found} times`]),
    ...(after === before ? [] : [`drift was not undone: ${after}`]),
  ];
};

/**
 * Invariant 7: a sync right after a sync plans nothing, and the result is what the newest config
 * wants. An invalid config changes nothing.
 */
export const checkThresholds = async (cloud: Cloud): Promise<readonly Violation[]> => {
  const newest = cloud.configs.newest();
  if (!newest) return [];
  const version = cloud.versions.find(({ number }) => String(number) === newest.version);
  const broken: string[] = [];
  await cloud.timeline.advance(LAST_EFFECT_MS);
  const wanted = version?.wanted && expected(version, await actual(cloud));
  const before = textOf(await actual(cloud));
  const first = await syncOnce(cloud);
  const second = await syncOnce(cloud);
  const after = textOf(await actual(cloud));
  broken.push(...first.violations, ...second.violations);
  if (second.mutations > 0) {
    broken.push(`a sync right after a sync sends ${second.mutations} requests`);
  }
  if (!wanted && first.mutations > 0) broken.push("an invalid config led to requests");
  if (!wanted && after !== before) broken.push(`an invalid config changed ${before} to ${after}`);
  if (wanted && after !== textOf(wanted)) {
    broken.push(`the config wants ${textOf(wanted)}, but the provider has ${after}`);
  }
  if (version?.wanted) broken.push(...(await checkDrift(cloud, version)));
  return broken.map((text) => ({ invariant: 7, text }));
};
