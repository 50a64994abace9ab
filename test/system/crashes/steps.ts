import type { FaultKind, PortCall } from "../../support/faults.ts";
import type { Fault } from "./differences.ts";

type CallKind = "acknowledge" | "effect" | "publish" | "read";

const READ = /^(?:ledger\.(?:read|listDue)|secrets|source|fetch GET)/;

const KINDS: Readonly<Record<CallKind, readonly FaultKind[]>> = {
  // A read changes nothing. A kill at a read equals a kill behind the effect before it, unless there
  // is none.
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
  // The caller of the function does these: they happen or not.
  acknowledge: ["killed"],
};

const kindOf = (name: string): CallKind => {
  if (name.endsWith(".acknowledge")) return "acknowledge";
  if (name === "bus.publish") return "publish";
  return READ.test(name) ? "read" : "effect";
};

/** A repeated check is no new step, nor are its permit and its lease. */
const MAX_REPEATS = 3;
const REPEATED = /^(?:ledger\.write (?:budget|lease)#|wake\.acknowledge)/;

/** Each call from the nth on, with each fault that it can have. */
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

/** Kills of a sequential function: one behind each effect. */
export const deathsOf = (made: readonly PortCall[], from = 1): readonly Fault[] =>
  stepsOf(made, from).filter(
    ({ kind, call }) => kind === "killed after" || call.endsWith(".acknowledge"),
  );
