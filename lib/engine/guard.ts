import * as z from "zod";
import { getFloatingIpTag, getNetworkTag } from "../contract/tags.ts";

const RESOURCES = ["floating_ip", "network"] as const;
const TESTS = ["equals", "not", "exists", "absent"] as const;

const exactlyOne = (fields: readonly string[]) => (guard: Readonly<Record<string, unknown>>) =>
  fields.filter((field) => guard[field] !== undefined).length === 1;
const error = (fields: readonly string[]): string => `exactly one of ${fields.join(", ")}`;

const tagValue = z.string().max(255, { error: "at most 255 characters" });

/** A condition on one tag (E13, E14), which has to hold when the command's request is sent. */
export const guardSchema = z
  .strictObject({
    floating_ip: getFloatingIpTag.params.optional().describe("Whose tag"),
    network: getNetworkTag.params.optional().describe("Whose tag"),
    key: getNetworkTag.query.shape.key.describe("Of the tag"),
    equals: tagValue.optional().describe("The tag has this value"),
    not: tagValue.optional().describe("The tag has another value, or there is no such tag"),
    exists: z.literal(true).optional().describe("There is such a tag"),
    absent: z.literal(true).optional().describe("There is no such tag"),
  })
  .refine(exactlyOne(RESOURCES), { error: error(RESOURCES) })
  .refine(exactlyOne(TESTS), { error: error(TESTS) });

export type Guard = z.output<typeof guardSchema>;

/** Where the resource of a guard is. */
export const guardParams = ({ floating_ip, network }: Guard): unknown => floating_ip ?? network;
