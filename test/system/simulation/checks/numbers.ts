import * as z from "zod";
import type { Violation } from "../cloud/chronicle.ts";
import type { Cloud } from "../cloud/cloud.ts";
import { LARGE_NUMBERS } from "../plan/requests.ts";

const eventSchema = z.object({ storage_name: z.string(), bytes: z.string().optional() });

/** Invariant 9: unsigned 64-bit numbers pass through exactly. */
export const checkNumbers = async ({ provider }: Cloud): Promise<readonly Violation[]> => {
  const stored = [...(await provider.store.load())]
    .filter(([key]) => key.startsWith("storage_events/"))
    .map(([, text]) => eventSchema.parse(JSON.parse(text)));
  return stored
    .filter(({ storage_name }) => storage_name === "s")
    .filter(({ bytes }) => bytes === undefined || !LARGE_NUMBERS.includes(bytes))
    .map(({ bytes }) => ({
      invariant: 9,
      text: `the provider has a value that no request contains: ${bytes} bytes`,
    }));
};
