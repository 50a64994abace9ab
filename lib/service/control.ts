import type { AdjustableClock } from "./adjustable-clock.ts";
import { conflict, notFound } from "./errors.ts";
import type { Faults } from "./faults.ts";
import { priceListAt } from "./locations.ts";
import { startAiTaskPlans } from "./operations/ai-tasks.ts";
import { putState, toState } from "./records.ts";
import type { RequestLog } from "./request-log.ts";
import type { Service } from "./service.ts";
import { type PriceChange, type PriceListRecord, priceListRecord } from "./state/prices.ts";
import type { State } from "./state/state.ts";

/** Largest number of snapshots. Each holds a whole state in memory. */
const MAX_SNAPSHOTS = 50;

/** The time of the service. */
export interface ClockReading {
  /** ISO 8601. */
  readonly now: string;
  readonly frozen: boolean;
  /** Distance to the clock of the machine; negative after a freeze. */
  readonly aheadMs: number;
}

/** A saved state. */
export interface SnapshotEntry {
  readonly name: string;
  /** Time of the service when it was saved, ISO 8601. */
  readonly savedAt: string;
  /** Number of records. */
  readonly records: number;
}

interface ControlOptions {
  readonly service: Pick<Service, "change" | "inspect">;
  readonly clock: AdjustableClock;
  readonly requestLog: RequestLog;
  readonly faults: Faults;
  /** The state of `reset`. */
  readonly initialState: State;
}

const countOf = (state: State): number =>
  Object.values(state).reduce((sum, list) => sum + list.length, 0);

const changedList = (list: PriceListRecord, change: PriceChange): PriceListRecord =>
  priceListRecord.parse({
    ...list,
    ...change,
    starts_at: list.starts_at,
    flavors: { ...list.flavors, ...change.flavors },
    volume_types: { ...list.volume_types, ...change.volume_types },
  });

/**
 * The controls of a running service: what a test or an operator does to the provider itself, past its interface. A
 * change of the state runs between two requests, as one commit.
 */
export const createControl = (options: ControlOptions) => {
  const { service, clock, requestLog, faults, initialState } = options;
  const snapshots = new Map<string, { readonly entry: SnapshotEntry; readonly state: State }>();

  const replace = (state: State): Promise<void> =>
    service.change((draft, at) => putState(draft, startAiTaskPlans(state, at)));
  const saved = (name: string) => {
    const found = snapshots.get(name);
    if (!found) throw notFound("snapshot");
    return found;
  };

  return {
    clock: {
      read: (): ClockReading => ({
        now: new Date(clock.now()).toISOString(),
        frozen: clock.isFrozen(),
        aheadMs: clock.aheadMs(),
      }),
      advance: clock.advance,
      freeze: clock.freeze,
      resume: clock.resume,
    },
    state: {
      /** The state after all due tasks have advanced. Holds secrets: values of `envs`, digests of keys. */
      async export(): Promise<State> {
        return toState((await service.inspect()).records);
      },
      /** Replaces the whole state. */
      import: replace,
      /** Replaces the whole state by the one with which an empty service starts. */
      reset: () => replace(initialState),
    },
    /** States by name, in memory. */
    snapshots: {
      list: (): readonly SnapshotEntry[] => [...snapshots.values()].map(({ entry }) => entry),
      /**
       * Saves the state; replaces an earlier one of this name.
       * @throws RefusedError when there are 50 others
       */
      async save(name: string): Promise<SnapshotEntry> {
        const { at, records } = await service.inspect();
        const state = toState(records);
        if (!snapshots.has(name) && snapshots.size >= MAX_SNAPSHOTS) {
          throw conflict(`there are ${MAX_SNAPSHOTS} snapshots already; delete one`);
        }
        const savedAt = new Date(at).toISOString();
        const entry = { name, savedAt, records: countOf(state) };
        snapshots.set(name, { entry, state });
        return entry;
      },
      /** @throws RefusedError for an unknown name */
      restore: async (name: string): Promise<void> => replace(saved(name).state),
      /** @throws RefusedError for an unknown name */
      remove(name: string): void {
        snapshots.delete(saved(name).entry.name);
      },
    },
    faults: {
      list: faults.list,
      add: faults.add,
      /** @throws RefusedError for an unknown id */
      remove(id: string): void {
        if (!faults.remove(id)) throw notFound("fault");
      },
      clear: faults.clear,
    },
    requests: { list: requestLog.list, clear: requestLog.clear },
    prices: {
      async list(): Promise<readonly PriceListRecord[]> {
        return (await service.inspect()).records.list("prices");
      },
      /**
       * Changes the price list of a region that begins at `starts_at`; without it, the one in force now.
       * @throws RefusedError when the region has no such list
       */
      change: (change: PriceChange): Promise<PriceListRecord> =>
        service.change((draft, at) => {
          const { region_id, starts_at } = change;
          const list =
            starts_at === undefined
              ? priceListAt(draft, region_id, at)
              : draft
                  .list("prices")
                  .find((each) => each.region_id === region_id && each.starts_at === starts_at);
          if (!list) throw notFound("price list");
          const changed = changedList(list, change);
          draft.put("prices", changed);
          return changed;
        }),
    },
  };
};

export type Control = ReturnType<typeof createControl>;
