import * as z from "zod";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { CONFIG_STORAGE, type Wanted } from "../plan/configs.ts";

const eventSchema = z.object({
  client_id: z.number(),
  storage_name: z.string().optional(),
  bucket_name: z.string().optional(),
  bytes: z.string().optional(),
});

const MAX_SYNC_MS = 10 * 60_000;

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

/** An invalid config changes nothing: whoever changes something has read a valid one last. */
export const watchThresholds = ({ provider, configs, versions, chronicle }: Cloud): void => {
  const valid = new Set(versions.filter(({ wanted }) => wanted).map(({ number }) => `${number}`));
  provider.onRequest(({ name }, isJobMutation) => {
    const version = configs.lastReadBy(name) ?? "none";
    if (!isJobMutation || valid.has(version)) return;
    const text = `${name} changes something, and the config that it has read is invalid`;
    chronicle.violations.push({ invariant: 7, text });
  });
};

/** Lets one sync run to its end; how many requests it has sent that could change something. */
const syncOnce = async ({ jobs, timeline, provider }: Cloud): Promise<number> => {
  const before = provider.jobMutations();
  let isOver = false;
  void jobs.syncNow().finally(() => {
    isOver = true;
  });
  const endsAt = timeline.now() + MAX_SYNC_MS;
  while (!isOver && timeline.now() < endsAt) await timeline.runUntil(timeline.now() + 1_000);
  return provider.jobMutations() - before;
};

/**
 * Invariant 7: a sync right after a sync plans nothing, and what it leaves is what the newest config
 * asks for. An invalid config changes nothing.
 */
export const checkThresholds = async (cloud: Cloud): Promise<readonly Violation[]> => {
  const newest = cloud.configs.newest();
  if (!newest) return [];
  const { wanted } = cloud.versions.find(({ number }) => String(number) === newest.version) ?? {};
  const broken: string[] = [];
  const before = textOf(await actual(cloud));
  const first = await syncOnce(cloud);
  const second = await syncOnce(cloud);
  const after = textOf(await actual(cloud));
  if (second > 0) broken.push(`a sync right after a sync sends ${second} requests`);
  if (!wanted && first > 0) broken.push("an invalid config has something changed");
  if (!wanted && after !== before) broken.push(`an invalid config changed ${before} to ${after}`);
  if (wanted && after !== textOf(wanted)) {
    broken.push(`the config wants ${textOf(wanted)}, and there is ${after}`);
  }
  return broken.map((text) => ({ invariant: 7, text }));
};
