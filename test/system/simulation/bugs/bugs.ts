import type { LedgerItem } from "../../../../lib/platform/ports/ledger.ts";
import { connectionLost } from "../../../support/provider.ts";
import type { Tampering } from "../cloud/tampering.ts";
import { AMBIGUITY_WINDOW_MS } from "../plan/plan.ts";

/** A deliberate bug, and the invariant that it violates. */
export interface Bug {
  readonly name: string;
  readonly invariant: number;
  /** Creates the bug for one run; some bugs have state. */
  readonly tamper: () => Tampering;
}

type Value = LedgerItem["value"];

const isOf = (kind: string, { key }: LedgerItem): boolean => key.startsWith(`${kind}#`);

const stateOf = ({ state }: Value): Value =>
  state !== null && typeof state === "object" && !Array.isArray(state) ? (state as Value) : {};

const hasEnded = (item: LedgerItem): boolean =>
  isOf("command", item) && "endedAt" in stateOf(item.value);

/** Replaces every written item by a changed one. */
const rewriting =
  (change: (item: LedgerItem) => LedgerItem): NonNullable<Tampering["ledger"]> =>
  (ledger) => ({ ...ledger, write: (item) => ledger.write(change(item)) });

const withValue = (item: LedgerItem, fields: Value): LedgerItem => ({
  ...item,
  value: { ...item.value, ...fields },
});

/** Changes the JSON text of every reply to a read. */
const rereading =
  (change: (text: string) => string): NonNullable<Tampering["fetch"]> =>
  (fetch) =>
  async (request) => {
    const response = await fetch(request);
    if (request.method !== "GET" || response.status !== 200) return response;
    return new Response(change(await response.text()), { headers: response.headers });
  };

const rounded = (text: string): string =>
  text.replace(/:(\d{16,20})/g, (_, digits: string) => `:${BigInt(Number(digits))}`);

export const BUGS: readonly Bug[] = [
  {
    name: "an entry that the bus refused counts as published",
    invariant: 1,
    tamper: () => ({
      bus: (bus) => ({
        publish: async (entries) =>
          (await bus.publish(entries)).map(() => ({ kind: "published" }) as const),
      }),
    }),
  },
  {
    name: "an ended command is not due although its events are unpublished",
    invariant: 1,
    tamper: () => ({
      ledger: rewriting((item) => (hasEnded(item) ? { ...item, dueAt: undefined } : item)),
    }),
  },
  {
    name: "absence counts at once, although requests are still on their way",
    invariant: 2,
    tamper: () => ({ ambiguityWindowMs: 0 }),
  },
  {
    name: "absence counts 30 s too early",
    invariant: 0,
    tamper: () => ({ ambiguityWindowMs: AMBIGUITY_WINDOW_MS - 30_000 }),
  },
  {
    name: "a lost connection is taken for a refused one",
    invariant: 2,
    tamper: () => ({
      fetch: (fetch) => async (request) => {
        try {
          return await fetch(request);
        } catch {
          const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
          throw Object.assign(connectionLost(), { cause });
        }
      },
    }),
  },
  {
    name: "the lease of an attempt ends while its request is on its way",
    invariant: 3,
    tamper: () => ({ leaseMs: 500 }),
  },
  {
    name: "a conflict on a lane is taken for a write",
    invariant: 3,
    tamper: () => ({
      ledger: (ledger) => ({
        ...ledger,
        write: async (item) => {
          const answer = await ledger.write(item);
          return isOf("lane", item) ? "written" : answer;
        },
      }),
    }),
  },
  {
    name: "a task that has not begun counts as finished",
    invariant: 4,
    tamper: () => ({ fetch: rereading((text) => text.replaceAll('"NEW"', '"FINISHED"')) }),
  },
  {
    name: "only two of a command's tasks are followed",
    invariant: 4,
    tamper: () => ({
      ledger: rewriting((item) => {
        const state = stateOf(item.value);
        return isOf("command", item) && Array.isArray(state.tasks) && state.tasks.length > 2
          ? withValue(item, { state: { ...state, tasks: state.tasks.slice(0, 2) } })
          : item;
      }),
    }),
  },
  {
    name: "lost replies are not counted",
    invariant: 4,
    tamper: () => ({
      ledger: rewriting((item) =>
        isOf("command", item) ? withValue(item, { lostReplies: 0 }) : item,
      ),
    }),
  },
  {
    name: "an end is published before it is written",
    invariant: 5,
    tamper: () => ({
      ledger: (ledger) => ({
        ...ledger,
        write: async (item) => {
          if (!hasEnded(item) || stateOf(item.value).settled === true) return ledger.write(item);
          void ledger.write(item).catch(() => {});
          return "written";
        },
      }),
    }),
  },
  {
    name: "a pause of the provider is forgotten",
    invariant: 6,
    tamper: () => ({
      ledger: (ledger) => ({
        ...ledger,
        read: async (key) => {
          const item = await ledger.read(key);
          return item && isOf("budget", item) ? withValue(item, { blockedUntil: 0 }) : item;
        },
      }),
    }),
  },
  {
    name: "every machine counts its own permits only",
    invariant: 6,
    tamper: () => ({
      ledger: (ledger) => ({
        ...ledger,
        read: async (key) => {
          const item = await ledger.read(key);
          return item && isOf("budget", item) ? withValue(item, { granted: 0 }) : item;
        },
      }),
    }),
  },
  {
    name: "limits of thresholds are read as JavaScript numbers",
    invariant: 7,
    tamper: () => ({ fetch: rereading(rounded) }),
  },
  {
    name: "an invalid config counts as one that wants nothing",
    invariant: 7,
    tamper: () => ({
      source: (source) => ({
        ...source,
        async read() {
          const object = await source.read();
          const isEmpty = object && !object.text.includes("[{name: reaching");
          return isEmpty ? { ...object, text: "prune: true\nthresholds: []" } : object;
        },
      }),
    }),
  },
  {
    name: "a request is not erased when its command ends",
    invariant: 8,
    tamper: () => {
      const requests = new Map<string, Value>();
      return {
        ledger: rewriting((item) => {
          const { request } = item.value;
          if (request !== null && typeof request === "object" && !Array.isArray(request)) {
            requests.set(item.key, request as Value);
          }
          const kept = requests.get(item.key);
          return hasEnded(item) && kept ? withValue(item, { request: kept }) : item;
        }),
      };
    },
  },
  {
    name: "64-bit numbers are sent as JavaScript numbers",
    invariant: 9,
    tamper: () => ({
      fetch: (fetch) => async (request) => {
        if (request.method === "GET") return fetch(request);
        const { method, url, headers, signal } = request;
        const body = rounded(await request.text());
        return fetch(new Request(url, { method, headers, signal, ...(body !== "" && { body }) }));
      },
    }),
  },
];
