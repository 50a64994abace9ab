import type { Fault } from "./differences.ts";
import { anonymous } from "./normal-form.ts";

/** A place of the undisturbed run, with the kinds of faults that it can have. */
export interface Place {
  readonly place: string;
  readonly kinds: readonly string[];
  /** Text of the system's state at the call. */
  readonly state: string;
}

/** Kinds that only delay a run, or that equal another kind for a single request, query or event. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...["slow before", "slow after", "frozen", "clock jump", "held up", "event late", "wake late"],
  ...["503 before", "504 before", "503 after", "504 after", "stalls", "cut off", "unknown words"],
  ...["429", "429 for long", "401", "no connection", "query stale", "query incomplete"],
  ...["entries fail", "write retried", "write conflicts", "comes again early"],
  // A call to AWS that fails, or loses its answer, 12 s later.
  ...["hangs", "hangs after"],
]);
/** The only tick of its hour or drift is an input: without it the course is another one. */
const IS_INPUT = /^tick lost tick (?:price-snapshot|threshold-drift) /;

const READ = /^(?:ledger\.(?:read|listDue)|secrets|config|fetch GET)/;
/** Starts of an invocation. */
const START = /^(?:delivery|event|notification|tick)\b/;
const PERMIT_OR_LEASE = /^ledger\.write (?:budget|lease)#/;
const REPEATED = new RegExp(`${PERMIT_OR_LEASE.source}|${START.source}|^acknowledgement`);
/** Reads, permits, leases, starts and acknowledgements of one name: those between belong to repeated checks. */
const MAX_REPEATS = 3;
/** Other calls of one name: those between belong to further probes, hours and tasks. */
const MAX_CALLS = 8;

/** Runs everything that a thinned list leaves out as equal to another strike. */
export const ARE_ALL_WANTED = process.env.EVERY_FAULT === "all";

/** Equal for all tasks. */
const nameOf = ({ place }: Pick<Place, "place">): string => anonymous(place.replace(/ #\d+$/, ""));

/** Equal for all resources and senders too. */
const callOf = (place: Place): string =>
  nameOf(place).replace(/(?<=lane#).*|(?<=command#).*\/|(?<=rejection[-#a-z]*#)\d+/, "");

const withoutRepeats = (places: readonly Place[]): readonly Place[] => {
  const counts = new Map<string, number>();
  for (const name of places.map(nameOf)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const done = new Map<string, number>();
  let isBehindAnEffect = false;
  return places.map((visited) => {
    const name = nameOf(visited);
    const isRead = READ.test(name);
    const isStart = START.test(name);
    const nth = (done.get(name) ?? 0) + 1;
    done.set(name, nth);
    const most = isRead || REPEATED.test(name) ? MAX_REPEATS : MAX_CALLS;
    const last = Math.floor(most / 3);
    const isBetween = nth > most - last && nth <= (counts.get(name) ?? 0) - last;
    // A kill before a call equals a kill behind the last effect, and a read has none.
    const left = visited.kinds
      .filter((kind) => kind !== "killed before" || !isBehindAnEffect)
      .filter((kind) => kind !== "killed after" || !isRead);
    isBehindAnEffect = !isStart && (isBehindAnEffect || !isRead);
    return { ...visited, kinds: isBetween ? [] : left };
  });
};

/**
 * Leaves out what equals a strike that was listed before with the same memory: the same kind at the same call, with
 * equal states before the call and before the next one.
 */
const withoutEquals = (places: readonly Place[], listed: Set<string>): readonly Place[] =>
  withoutRepeats(places).map((visited, index) => {
    const { state: next = "" } = places[index + 1] ?? {};
    const kinds = visited.kinds.filter((kind) => {
      const id = [kind, callOf(visited), visited.state, next].join("\n");
      const isNew = !listed.has(id);
      listed.add(id);
      return isNew;
    });
    return { ...visited, kinds };
  });

/** Each place with each kind of fault that it can have. @param listed remembers them, for later lists */
export const strikesOf = (places: readonly Place[], listed: Set<string>): readonly Fault[] =>
  (ARE_ALL_WANTED ? places : withoutEquals(places, listed)).flatMap(({ place, kinds }) =>
    kinds
      .filter((kind) => !LEFT_OUT.has(kind) && !IS_INPUT.test(`${kind} ${place}`))
      .map((kind) => ({ place, kind })),
  );

/** Kills of a sequential function: one behind each effect but permits and leases, which end by themselves. */
export const killsOf = (places: readonly Place[], listed: Set<string>): readonly Fault[] =>
  strikesOf(places, listed).filter(
    ({ kind, place }) =>
      kind === "acknowledgement lost" ||
      (kind === "killed after" && (ARE_ALL_WANTED || !PERMIT_OR_LEASE.test(place))),
  );
