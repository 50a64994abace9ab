import { closestMatch } from "leven";
import * as z from "zod";
import { OPERATIONS } from "../contract/operations.ts";
import { oneOf } from "../contract/values.ts";

/** Most letters that differ in a typing mistake. */
const MAX_TYPING_ERROR = 4;
const TARGETS = ["*", ...OPERATIONS.map(({ id }) => id)] as const;

/** The beginning of a text: enough to find a mistake in it. */
export const shortened = (text: string): string => text.slice(0, 60);

const hintFor = (input: string): string => {
  const [, ...operations] = TARGETS;
  const near = closestMatch(shortened(input), operations, { maxDistance: MAX_TYPING_ERROR });
  return near === undefined ? "`npx skyhook operations` lists all" : `did you mean ${near}?`;
};

const operationSchema = z.enum(TARGETS, {
  error: ({ input }) =>
    typeof input === "string"
      ? `unknown operation "${shortened(input)}"; ${hintFor(input)} (* means all operations)`
      : "required: an operation such as update-pool, or * for all operations",
});

/** Seed of the random decisions unless another is given. */
export const DEFAULT_FAULT_SEED = 1;

const MAX_DELAY_MS = 600_000;
const DURATION = String.raw`(\d+(?:\.\d+)?)(ms|s)`;
const DELAY = new RegExp(`^${DURATION}(?:\\.\\.${DURATION})?$`);

/** Bounds from which a delay is drawn uniformly, ms; equal for a fixed delay. */
export interface Delay {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Reads a text that `delaySchema` accepts. */
export const delayOf = (text: string): Delay => {
  const [, from, fromUnit, to = from, toUnit = fromUnit] = DELAY.exec(text) ?? [];
  const msOf = (amount: string | undefined, unit: string | undefined): number =>
    Math.round(Number(amount) * (unit === "s" ? 1000 : 1));
  return { fromMs: msOf(from, fromUnit), toMs: msOf(to, toUnit) };
};

/** A duration such as `2s`, or a range such as `200ms..2s`; at most ten minutes. */
export const delaySchema = z
  .string({ error: "required: a duration such as 2s, or a range such as 200ms..2s" })
  .regex(DELAY, {
    error: "a duration with its unit such as 200ms or 2s, or a range such as 200ms..2s",
    abort: true,
  })
  .refine((text) => delayOf(text).fromMs <= delayOf(text).toMs, {
    error: "a range begins with its shorter duration",
  })
  .refine((text) => delayOf(text).toMs <= MAX_DELAY_MS, {
    error: `at most ${MAX_DELAY_MS / 1000}s`,
  });

const MAX_RETRY_AFTER_SECONDS = 86_400;

const retryAfterSchema = z
  .string()
  .regex(/^\d{1,6}s$/, { error: "whole seconds such as 7s", abort: true })
  .refine((text) => Number.parseInt(text, 10) <= MAX_RETRY_AFTER_SECONDS, {
    error: `at most ${MAX_RETRY_AFTER_SECONDS}s`,
  })
  .default("1s");

const WHEN = ["before-effect", "after-effect"] as const;

const rule = <Kind extends string, Details extends z.ZodRawShape>(kind: Kind, details: Details) =>
  z.strictObject({
    operation: operationSchema,
    kind: z.literal(kind),
    /** The next requests that the fault strikes. Without `times` and `probability`: every request. */
    times: z.int().min(1).max(1_000_000).optional(),
    /** Chance of each request, above 0 and at most 1. */
    probability: z
      .number()
      .gt(0, { error: "above 0 and at most 1" })
      .max(1, { error: "above 0 and at most 1" })
      .optional(),
    ...details,
  });

const when = oneOf(WHEN).default("before-effect");

const RULES = [
  rule("status", {
    code: z.int().min(400).max(599).default(500),
    /** `documented`: the operation's error body; `html`: the page of a gateway. */
    body: oneOf(["documented", "html"]).default("documented"),
    when,
  }),
  rule("throttled", { retryAfter: retryAfterSchema }),
  rule("lost-reply-before", {}),
  rule("lost-reply-after", {}),
  rule("reset", { when }),
  rule("slow", { delay: delaySchema, when }),
  rule("truncated", {}),
  rule("unexpected-body", {}),
] as const;

/** Kinds of faults. */
export const FAULT_KINDS = RULES.map(({ shape }) => shape.kind.value);

export type FaultKind = (typeof FAULT_KINDS)[number];

/**
 * A rule for faults, as JSON:
 * - `operation`: id of an operation, or `*` for all.
 * - `times` strikes the next requests, `probability` (above 0, at most 1) a share of them; with neither, every request.
 * - `kind`: `status` answers with `code` (400 to 599; default 500) and the documented error body, or a gateway's page
 *   (`body: "html"`); `throttled` answers 429 with `Retry-After` (`retryAfter`, default `1s`); `lost-reply-before` and
 *   `lost-reply-after` close the connection before or after the effect; `reset` resets it; `slow` waits for `delay`;
 *   `truncated` cuts off the reply after the effect; `unexpected-body` replaces it by `{"ok":true}`.
 * - `when` (`status`, `reset`, `slow`): `before-effect` (default) or `after-effect`.
 */
export const faultRuleSchema = z
  .discriminatedUnion("kind", RULES, {
    error: `a kind of fault: one of ${FAULT_KINDS.join(", ")}`,
  })
  .refine(({ times, probability }) => times === undefined || probability === undefined, {
    path: ["probability"],
    error: "not allowed beside times",
  });

/** A complete rule, with its defaults. */
export type FaultRule = z.output<typeof faultRuleSchema>;

/** A rule of a running service. */
export interface ActiveFault {
  readonly id: string;
  /** The rule with its defaults. */
  readonly rule: FaultRule;
  /** How often it has struck. */
  readonly struck: number;
  /** How often it will still strike; absent for a rule without `times`. */
  readonly left?: number;
}
