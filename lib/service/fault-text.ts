import { problemsOf } from "../contract/problem.ts";
import { FAULT_KINDS, type FaultRule, faultRuleSchema, shortened } from "./fault-rules.ts";

/** A text that is no fault rule; the message says what to write instead. */
export class FaultTextError extends Error {
  override readonly name = "FaultTextError";
}

const FORM = "OPERATION=KIND[:HOW-OFTEN][,DETAIL=VALUE]";
const HOW_OFTEN =
  "a count such as 3x (the next 3 requests), a share such as 20% or 0.2, or nothing for every request";

/** `3x`, `20%` or `0.2`. A plain whole number is refused: it could be a count or a probability. */
const howOften = (text: string): Partial<FaultRule> => {
  const [, times] = /^(\d{1,7})x$/.exec(text) ?? [];
  if (times !== undefined) return { times: Number(times) };
  const [, percent] = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(text) ?? [];
  if (percent !== undefined) return { probability: Number(`${percent}e-2`) };
  if (/^\d?\.\d{1,8}$/.test(text)) return { probability: Number(text) };
  const reason = /^\d+$/.test(text)
    ? `"${shortened(text)}" could be a count or a probability: write 3x for the next 3 requests, or 20% for a share of them`
    : `"${shortened(text)}" after the colon is not how often: ${HOW_OFTEN}; details come after a comma`;
  throw new FaultTextError(reason);
};

const fieldOf = (detail: string): string =>
  detail.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const detailOf = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const COMMON_FIELDS: readonly string[] = ["operation", "kind", "times", "probability"];

/** The names of the details that a kind takes; undefined for an unknown kind. */
const detailsOf = (kind: string): readonly string[] | undefined => {
  const schema = faultRuleSchema.options.find(({ shape }) => shape.kind.value === kind);
  return (
    schema &&
    Object.keys(schema.shape)
      .filter((field) => !COMMON_FIELDS.includes(field))
      .map(detailOf)
  );
};

/** Reads `NAME=VALUE` texts. */
const readDetails = (kind: string, texts: readonly string[]): Readonly<Record<string, unknown>> => {
  const known = detailsOf(kind) ?? [];
  const details = new Map<string, unknown>();
  for (const text of texts) {
    const [, name = "", value = ""] = /^([^=]*)=(.*)$/.exec(text) ?? [];
    if (!known.includes(name)) {
      const allowed =
        known.length === 0
          ? `${kind} takes no details`
          : `details of ${kind}: ${known.map((each) => `${each}=…`).join(", ")}`;
      throw new FaultTextError(`unknown detail "${shortened(text)}"; ${allowed}`);
    }
    if (details.has(fieldOf(name))) throw new FaultTextError(`${name} is given twice`);
    details.set(fieldOf(name), name === "code" && /^\d+$/.test(value) ? Number(value) : value);
  }
  return Object.fromEntries(details);
};

/**
 * Reads a fault rule: `OPERATION=KIND[:HOW-OFTEN][,DETAIL=VALUE]…`, such as `update-pool=lost-reply-after:20%` or
 * `*=status:3x,code=503`. The details are the fields of `faultRuleSchema`, with hyphens: `retry-after=7s`.
 * @throws FaultTextError
 */
export const parseFault = (text: string): FaultRule => {
  const [, operation, rest] = /^([^=]+)=(.+)$/.exec(text.trim()) ?? [];
  if (operation === undefined || rest === undefined) {
    throw new FaultTextError(`expected ${FORM}, such as update-pool=lost-reply-after:20%`);
  }
  const [head = "", ...details] = rest.split(",");
  const [, kind = "", , often] = /^([^:]*)(:(.*))?$/.exec(head) ?? [];
  if (!FAULT_KINDS.some((known) => known === kind)) {
    throw new FaultTextError(`unknown kind "${shortened(kind)}"; kinds: ${FAULT_KINDS.join(", ")}`);
  }
  const parsed = faultRuleSchema.safeParse({
    operation,
    kind,
    ...(often !== undefined && howOften(often)),
    ...readDetails(kind, details),
  });
  if (parsed.success) return parsed.data;
  const [first] = problemsOf(parsed.error.issues);
  if (!first) throw parsed.error;
  const { path, rule } = first;
  throw new FaultTextError(path === "operation" ? rule : `${detailOf(path)}: ${rule}`);
};

/** A rule in the notation of `parseFault`, with all of its details. */
export const faultText = (rule: FaultRule): string => {
  const { operation, kind, times, probability, ...details } = rule;
  const often = [
    ...(times === undefined ? [] : [`:${times}x`]),
    ...(probability === undefined ? [] : [`:${Number((probability * 100).toFixed(6))}%`]),
  ];
  const named = Object.entries(details).map(([field, value]) => `,${detailOf(field)}=${value}`);
  return [`${operation}=${kind}`, ...often, ...named].join("");
};
