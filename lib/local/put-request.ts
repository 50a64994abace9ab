import * as z from "zod";
import { parseJson } from "../contract/json.ts";
import { type Problem, problemsOf } from "../contract/problem.ts";
import { sizeProblems } from "../engine/request.ts";
import type { PutEvent } from "./local-bus.ts";

const putSchema = z.object({
  source: z.string().min(1).max(256),
  "detail-type": z.string().min(1).max(128),
  detail: z.record(z.string(), z.json()),
  /** AWS account that puts the event; absent: Skyhook's own. */
  account: z
    .string()
    .regex(/^\d{12}$/, { error: "must be an AWS account id of 12 digits" })
    .optional(),
  id: z.string().min(1).max(63).optional(),
  time: z.iso.datetime().optional(),
  region: z.string().min(1).max(64).optional(),
  resources: z.array(z.string()).optional(),
  bus: z
    .literal("default", { error: "must be default, or left out for Skyhook's own bus" })
    .optional(),
});

export type PutReading =
  | { readonly kind: "valid"; readonly event: PutEvent; readonly onDefaultBus: boolean }
  | { readonly kind: "invalid"; readonly problems: readonly Problem[] };

/** Checks an event that a user wrote or that another bus delivered. */
export const checkPut = (json: unknown): PutReading => {
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

/** Reads an event from JSON text, by the rules of `checkPut`. */
export const readPut = (text: string): PutReading => {
  const json = parseJson(text);
  return json === undefined
    ? { kind: "invalid", problems: [{ path: "", rule: "not readable as JSON" }] }
    : checkPut(json);
};
