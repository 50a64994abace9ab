import * as z from "zod";
import type { LedgerItem } from "../../../../lib/platform/ports/ledger.ts";
import { rateLimits } from "../../../../lib/provider/rate-limit.ts";
import type { Cloud } from "../cloud/cloud.ts";
import type { Caller } from "../cloud/observed-ledger.ts";

const budgetSchema = z.object({
  windowStartedAt: z.number(),
  granted: z.number(),
  blockedUntil: z.number(),
});

const WINDOW_MS = 1_000;
const PREFIX = `${rateLimits.kind}#`;
/** A pause is recorded as soon as it is received, within a few calls. */
const NOTED_AFTER_MS = 10_000;

const read = (item: LedgerItem | undefined) =>
  item ? budgetSchema.parse(item.value) : { windowStartedAt: 0, granted: 0, blockedUntil: 0 };

type Tell = (text: string) => void;

/** Granted permits by account, machine, and window of the machine's own clock. */
const createCredit = () => {
  const left = new Map<string, number>();
  const namesOf = (account: string, { name, clock }: Caller) => ({
    inWindow: `${account}: ${name} in window ${Math.floor(clock.now() / WINDOW_MS)}`,
    ever: `${account}: ${name}`,
  });
  return {
    add(account: string, by: Caller, count: number): void {
      for (const name of Object.values(namesOf(account, by))) {
        left.set(name, (left.get(name) ?? 0) + count);
      }
    },
    /** A machine with a jumped clock can only be checked against the total of its permits. */
    overdrawn(account: string, by: Caller): string | undefined {
      const { inWindow, ever } = namesOf(account, by);
      const name = by.hasJumped() ? ever : inWindow;
      return (left.get(name) ?? 0) > 0 ? undefined : name;
    },
  };
};

/**
 * No window grants more permits than the rate limit, a permit expires with its window, and none is
 * granted during a pause.
 */
const watchGrants = ({ ledger, provider, requestsPerSecond }: Cloud, broken: Tell): void => {
  const credit = createCredit();
  const blockedUntil = new Map<string, number>();

  ledger.onWrite((item, previous, by) => {
    if (!item.key.startsWith(PREFIX)) return;
    const account = item.key.slice(PREFIX.length);
    const [before, after] = [read(previous), read(item)];
    const isSameWindow = before.windowStartedAt === after.windowStartedAt;
    const fresh = after.granted - (isSameWindow ? before.granted : 0);
    if (after.granted > requestsPerSecond) broken(`a window grants ${after.granted} requests`);
    if (after.windowStartedAt < before.windowStartedAt) broken("a window was reopened");
    const blockedBefore = blockedUntil.get(account) ?? 0;
    if (fresh > 0) {
      if (by.clock.now() < blockedBefore && !by.hasJumped()) {
        broken(`${by.name} was granted permits during a pause`);
      }
      credit.add(account, by, fresh);
    }
    blockedUntil.set(account, Math.max(blockedBefore, after.blockedUntil));
  });

  provider.onRequest(({ account, caller }) => {
    const name = credit.overdrawn(account, caller);
    if (name !== undefined) broken(`${name} sent more requests than its permits allow`);
    credit.add(account, caller, -1);
  });
};

/** A machine that receives a request for a pause obeys it, and records it for all. */
const watchPauses = (cloud: Cloud, broken: Tell): void => {
  const { ledger, provider, timeline, faults, limits } = cloud;
  /** End of the pause by account and machine, on the machine's clock. */
  const pauses = new Map<string, { readonly from: number; readonly until: number }>();

  const isUndisturbed = (since: number): boolean =>
    !limits.struck.some(({ at }) => at >= since) &&
    !faults.struck.some(
      ({ at, place, kind }) => kind === "frozen" || (at >= since && place.includes(PREFIX)),
    );

  provider.onPause(({ account, caller, pauseMs }) => {
    const name = `${account}: ${caller.name}`;
    const from = caller.clock.now();
    const until = Math.max(from + pauseMs, pauses.get(name)?.until ?? 0);
    pauses.set(name, { from, until });
    const heardAt = timeline.now();
    timeline.after(NOTED_AFTER_MS, () => {
      const noted = read(ledger.items.get(`${PREFIX}${account}`)).blockedUntil;
      const mayHaveNoted = caller.isAlive() && !caller.hasJumped() && isUndisturbed(heardAt);
      if (mayHaveNoted && noted < from + pauseMs) broken(`${name} has not recorded a pause`);
    });
  });

  provider.onRequest(({ account, caller }) => {
    const pause = pauses.get(`${account}: ${caller.name}`);
    const now = caller.clock.now();
    if (pause && now > pause.from && now < pause.until && !caller.hasJumped()) {
      broken(`${caller.name} sent a request during a pause that it knew of`);
    }
  });
};

/**
 * Invariant 6: no window grants more permits than an account's rate limit; a permit expires with its
 * window; a 429 sets `blockedUntil`, which every new permit obeys. Windows and pauses follow the
 * clock of the acquiring machine, so each machine is checked against its own.
 */
export const watchRateLimit = (cloud: Cloud): void => {
  const broken = (text: string): void => {
    cloud.chronicle.violations.push({ invariant: 6, text });
  };
  watchGrants(cloud, broken);
  watchPauses(cloud, broken);
};
