import * as z from "zod";
import { parseJson } from "../commands/parse-json.ts";
import { sizeProblems } from "../commands/request-limits.ts";
import { type Problem, problemsOf } from "../contract/problem.ts";
import type { PutEvent } from "./local-bus.ts";

const putSchema = z.object({
  source: z.string().min(1).max(256),
  "detail-type": z.string().min(1).max(128),
  detail: z.record(z.string(), z.json()),
  /** The AWS account that puts it; absent: our own. */
  account: z
    .string()
    .regex(/^\d{12}$/, { error: "an AWS account id of 12 digits" })
    .optional(),
  id: z.string().min(1).max(63).optional(),
  time: z.iso.datetime().optional(),
  resources: z.array(z.string()).optional(),
  bus: z.literal("default", { error: "default, or absent for Skyhook's own" }).optional(),
});

export type PutReading =
  | { readonly kind: "valid"; readonly event: PutEvent; readonly onDefaultBus: boolean }
  | { readonly kind: "invalid"; readonly problems: readonly Problem[] };

/** Reads an event as people write it, or as it came out of another bus. */
export const readPut = (text: string): PutReading => {
  const json = parseJson(text);
  if (json === undefined) {
    return { kind: "invalid", problems: [{ path: "", rule: "not readable as JSON" }] };
  }
  const tooMuch = sizeProblems(json);
  if (tooMuch.length > 0) return { kind: "invalid", problems: tooMuch };
  const read = putSchema.safeParse(json);
  if (!read.success) return { kind: "invalid", problems: problemsOf(read.error.issues) };
  const { bus, ...given } = read.data;
  const { source, detail, "detail-type": detailType } = given;
  const stamps = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  );
  return {
    kind: "valid",
    event: { ...stamps, source, detail, "detail-type": detailType },
    onDefaultBus: bus === "default",
  };
};
