import type { FaultKind, PortCall } from "../../support/faults.ts";
import type { Fault } from "./differences.ts";

type CallKind = "acknowledge" | "effect" | "publish" | "read";

const READ = /^(?:ledger\.(?:read|listDue)|secrets|source|fetch GET)/;

const KINDS: Readonly<Record<CallKind, readonly FaultKind[]>> = {
  // Reading changes nothing: whoever dies at it died behind the effect before, unless there is none.
  read: ["killed", "fails before"],
  effect: ["killed", "killed after", "fails before", "fails after"],
  publish: [
    "killed",
    "killed after",
    "killed half-way",
    "fails before",
    "fails after",
    "fails half-way",
  ],
  // Done by whoever called the function, to whom nothing else can happen than to do it or not.
  acknowledge: ["killed"],
};

const kindOf = (name: string): CallKind => {
  if (name.endsWith(".acknowledge")) return "acknowledge";
  if (name === "bus.publish") return "publish";
  return READ.test(name) ? "read" : "effect";
};

/** Looking again at the same is no new step, with what that takes: a permit of the rate limit, the lease. */
const MAX_REPEATS = 3;
const REPEATED = /^(?:ledger\.write (?:budget|lease)#|wake\.acknowledge)/;

/** Each call that was made, from the nth on, in each way in which it can go wrong. */
export const stepsOf = (made: readonly PortCall[], from = 1): readonly Fault[] => {
  const begun = new Set<number>();
  const repeats = new Map<string, number>();
  return made.flatMap(({ name, invocation }, index) => {
    const isFirst = !begun.has(invocation);
    begun.add(invocation);
    const kind = kindOf(name);
    const place = `${invocation} ${name}`;
    const times = (repeats.get(place) ?? 0) + 1;
    if (kind === "read" || REPEATED.test(name)) repeats.set(place, times);
    if (times > MAX_REPEATS || index + 1 < from) return [];
    return KINDS[kind]
      .filter((fault) => kind !== "read" || fault !== "killed" || isFirst)
      .map((fault) => ({ nth: index + 1, kind: fault, call: name }));
  });
};

/** Where whoever does one thing after the other can die: behind each effect. */
export const deathsOf = (made: readonly PortCall[], from = 1): readonly Fault[] =>
  stepsOf(made, from).filter(
    ({ kind, call }) => kind === "killed after" || call.endsWith(".acknowledge"),
  );
