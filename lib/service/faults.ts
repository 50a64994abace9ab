import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import { endpointsOf } from "../contract/operation.ts";
import { OPERATIONS } from "../contract/operations.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import { pathPattern, requestIdOf } from "./app.ts";
import { faultyReply, LostConnection } from "./fault-replies.ts";
import {
  type ActiveFault,
  DEFAULT_FAULT_SEED,
  type Delay,
  delayOf,
  type FaultRule,
} from "./fault-rules.ts";
import { faultText } from "./fault-text.ts";
import type { RequestNotes } from "./request-log.ts";

const PATTERNS = OPERATIONS.flatMap((operation) =>
  endpointsOf(operation).map(({ method, path }) => ({
    method,
    pattern: pathPattern(path),
    id: operation.id,
  })),
);

/** The operation of a request, at any of its paths; undefined for every other path and method. */
const operationOf = (request: Request): string | undefined => {
  const { pathname } = new URL(request.url);
  // The app answers HEAD like GET.
  const method = request.method === "HEAD" ? "GET" : request.method;
  return PATTERNS.find((each) => each.method === method && each.pattern.test(pathname))?.id;
};

/** A number in [0, 1) that depends on the names only, so that one operation's requests never change another's faults. */
const drawOf = (...names: readonly (string | number)[]): number =>
  createHash("sha256").update(names.join("/")).digest().readUInt32BE() / 2 ** 32;

const lengthOf = ({ fromMs, toMs }: Delay, draw: number): number =>
  Math.round(fromMs + draw * (toMs - fromMs));

export interface FaultsOptions {
  readonly clock: Clock;
  /** Source of request ids in error bodies. */
  readonly random: Pick<Random, "uuid">;
  /** The same seed, rules and requests give the same faults. Default: 1. */
  readonly seed?: number | undefined;
  /** Delay of every request to an operation, before it is handled. Independent of the rules. */
  readonly latency?: Delay | undefined;
  /** Ends all delays when it aborts: delayed requests lose their connection. */
  readonly signal?: AbortSignal | undefined;
}

export interface Faults {
  /** The rules in the order in which they were added, spent ones too. */
  list(): readonly ActiveFault[];
  /** Adds a rule. Of several rules for a request the first that strikes decides. */
  add(rule: FaultRule): ActiveFault;
  /** Returns false for an unknown id. */
  remove(id: string): boolean;
  clear(): void;
  /** Reports whether no request is struck or delayed, so that `handle` would only pass them on. */
  isIdle(): boolean;
  /**
   * Handles a request with `send`, or as a rule says.
   * @throws LostConnection when the connection ends without a reply
   */
  handle(
    request: Request,
    send: () => Promise<Response> | Response,
    notes?: RequestNotes,
  ): Promise<Response>;
}

interface ActiveRule {
  readonly id: string;
  readonly rule: FaultRule;
  /** Distinguishes the random numbers of the rule. The same after the rule was removed and added again. */
  readonly name: string;
  struck: number;
  /** Requests by operation since the rule was added. */
  readonly seen: Map<string, number>;
}

/** Creates faults without rules. */
export const createFaults = (options: FaultsOptions): Faults => {
  const { clock, random, seed = DEFAULT_FAULT_SEED, latency, signal } = options;
  // Every delayed request listens to it.
  if (signal) setMaxListeners(0, signal);
  const rules: ActiveRule[] = [];
  const requests = new Map<string, number>();
  let added = 0;

  const leftOf = ({ rule: { times }, struck }: ActiveRule): number =>
    (times ?? Number.POSITIVE_INFINITY) - struck;

  const shown = (active: ActiveRule): ActiveFault => ({
    id: active.id,
    rule: active.rule,
    struck: active.struck,
    ...(active.rule.times !== undefined && { left: leftOf(active) }),
  });

  const wait = async (durationMs: number): Promise<void> => {
    await clock.sleep(durationMs, signal);
    if (signal?.aborted) throw new LostConnection(false);
  };

  /** Counts a request of an operation and returns its number. */
  const count = (counts: Map<string, number>, operation: string): number => {
    const nth = (counts.get(operation) ?? 0) + 1;
    counts.set(operation, nth);
    return nth;
  };

  /** The first rule that strikes. Every fitting rule counts the request, so that rules do not change one another. */
  const strike = (operation: string) =>
    rules
      .filter(({ rule }) => rule.operation === "*" || rule.operation === operation)
      .map((active) => ({ active, nth: count(active.seen, operation) }))
      .find(({ active, nth }) => {
        const { probability = 1 } = active.rule;
        const strikes =
          leftOf(active) > 0 &&
          (probability === 1 || drawOf(seed, active.name, operation, nth) < probability);
        if (strikes) active.struck += 1;
        return strikes;
      });

  return {
    list: () => rules.map(shown),
    add: (rule) => {
      added += 1;
      const text = faultText(rule);
      const equals = rules.filter((other) => faultText(other.rule) === text).length;
      const name = `${text} ${equals}`;
      const active = { id: `fault-${added}`, rule, name, struck: 0, seen: new Map() };
      rules.push(active);
      return shown(active);
    },
    remove: (id) => {
      const at = rules.findIndex((active) => active.id === id);
      if (at >= 0) rules.splice(at, 1);
      return at >= 0;
    },
    clear: () => void rules.splice(0),
    isIdle: () => rules.length === 0 && !latency,
    handle: async (request, send, notes = {}) => {
      const operation = operationOf(request);
      if (operation === undefined) return send();
      notes.operation = operation;
      // Decided at arrival: the latency may change the order in which requests are handled.
      const struck = strike(operation);
      if (struck) notes.fault = struck.active.rule.kind;
      if (latency) {
        const nth = count(requests, operation);
        await wait(lengthOf(latency, drawOf(seed, "latency", operation, nth)));
      }
      if (!struck) return send();
      const { active, nth } = struck;
      return faultyReply(active.rule, {
        path: new URL(request.url).pathname,
        send,
        wait: (delay) =>
          wait(lengthOf(delayOf(delay), drawOf(seed, active.name, operation, nth, "delay"))),
        newRequestId: () => {
          notes.requestId = requestIdOf(() => random.uuid());
          return notes.requestId;
        },
      });
    },
  };
};
