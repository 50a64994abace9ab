import * as z from "zod";
import { rateLimits } from "../../../../lib/provider/rate-limit.ts";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";

/** Requests that had their permits before the refusal was recorded. */
const KNOWN_AFTER_MS = 3_000;
/** 30 s, less the difference of clocks. */
const SHORTEST_PAUSE_MS = 16_000;

/** Time for reading the key again, and for recording that there is no new one, ms. */
const NOTED_AFTER_MS = 15_000;
/** Largest difference of two clocks, ms. */
const SKEW_MS = 15_000;

const PREFIX = `${rateLimits.kind}#`;

const keySchema = z.object({
  key: z.object({ state: z.enum(["accepted", "refused"]), since: z.number() }),
});

/** A machine that receives a refusal, and finds no other key, records it for all. */
const watchNotes = (cloud: Cloud): void => {
  const { ledger, provider, chronicle, timeline, keys, faults, limits } = cloud;
  const isUndisturbed = (since: number): boolean =>
    !limits.struck.some(({ at }) => at >= since) &&
    !faults.struck.some(
      ({ at, place, kind }) => kind === "frozen" || (at >= since && /secrets|budget#/.test(place)),
    );

  provider.onKeyRefused(({ account, caller, key }) => {
    const heardAt = timeline.now();
    const isOnlyKey = (): boolean => key === keys.stored() && keys.replacements() <= 1;
    if (!isOnlyKey()) return;
    timeline.after(NOTED_AFTER_MS, () => {
      const noted = keySchema.safeParse(ledger.items.get(PREFIX + account)?.value).data?.key;
      const isNoted = noted?.state === "refused" || (noted?.since ?? 0) >= heardAt - SKEW_MS;
      const mayHaveNoted = caller.isAlive() && !caller.hasJumped() && isUndisturbed(heardAt);
      if (isNoted || !isOnlyKey() || !mayHaveNoted) return;
      const text = `${caller.name} has not recorded that the key of ${account} is refused`;
      chronicle.violations.push({ invariant: 0, text });
    });
  });
};

/** While an account's key is refused, one half-open probe leaves every 30 s. */
const watchProbes = ({ ledger, provider, chronicle, timeline, keys }: Cloud): void => {
  const refusedSince = new Map<string, number>();
  const lastSent = new Map<string, number>();
  ledger.onWrite(({ key, value }) => {
    if (!key.startsWith(PREFIX)) return;
    const account = key.slice(PREFIX.length);
    if (keySchema.parse(value).key.state === "accepted") refusedSince.delete(account);
    else if (!refusedSince.has(account)) refusedSince.set(account, timeline.now());
  });
  provider.onRequest(({ account, isKeyAccepted }) => {
    const since = refusedSince.get(account);
    if (isKeyAccepted || since === undefined || timeline.now() < since + KNOWN_AFTER_MS) return;
    // Another machine may have read the refused key as a new one.
    if (keys.replacements() > 1) return;
    if (timeline.now() < (lastSent.get(account) ?? 0) + SHORTEST_PAUSE_MS) {
      const text = `${account} sent another request with a refused key`;
      chronicle.violations.push({ invariant: 0, text });
    }
    lastSent.set(account, timeline.now());
  });
};

/**
 * A refused key counts as accepted only after a request that left later and was not refused: an answer to an older one
 * says nothing.
 */
const watchAcceptance = ({ ledger, provider, chronicle }: Cloud): void => {
  /** When a machine's newest answered request left, by account and machine, epoch ms on its own clock. */
  const lastAnswered = new Map<string, number>();
  provider.onReply(({ account, caller: { name }, status, sentAt }) => {
    const id = `${account}: ${name}`;
    if (status !== 401) lastAnswered.set(id, Math.max(sentAt, lastAnswered.get(id) ?? 0));
  });
  ledger.onWrite(({ key, value }, previous, { name }) => {
    const before = keySchema.safeParse(previous?.value).data?.key;
    if (!key.startsWith(PREFIX) || before?.state !== "refused") return;
    if (keySchema.parse(value).key.state === "refused") return;
    const account = key.slice(PREFIX.length);
    if ((lastAnswered.get(`${account}: ${name}`) ?? 0) > before.since) return;
    const text = `${name} takes the key of ${account} for accepted by an answer from before its refusal`;
    chronicle.violations.push({ invariant: 0, text });
  });
};

export const watchKeys = (cloud: Cloud): void => {
  watchAcceptance(cloud);
  watchNotes(cloud);
  watchProbes(cloud);
};

/** A refused key is published once, and its acceptance once after that. */
export const checkKeys = async ({ bus }: Cloud): Promise<readonly Violation[]> => {
  const told = bus.seen().filter(({ detailType }) => detailType.startsWith("AccountKey"));
  return [...new Set(told.map(({ metadata }) => metadata.account))].flatMap((account) => {
    const its = told.filter(({ metadata }) => metadata.account === account);
    const begun = new Set(
      its.flatMap(({ detailType, data }) =>
        detailType === "AccountKeyRefused" ? [data.since] : [],
      ),
    );
    const over = new Set(
      its.flatMap(({ detailType, data }) =>
        detailType === "AccountKeyAccepted" ? [data.refusedSince] : [],
      ),
    );
    const isPaired = [...over].every((since) => begun.has(since)) && begun.size - over.size <= 1;
    const text = `${account}: AccountKeyRefused was published ${begun.size} times, AccountKeyAccepted ${over.size} times`;
    return isPaired ? [] : [{ invariant: 1, text }];
  });
};
