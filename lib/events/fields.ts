import * as z from "zod";

export const text = (description: string) => z.string().describe(description);
export const instant = (description: string) => z.iso.datetime().describe(description);
export const counter = (description: string) => z.int().nonnegative().describe(description);

/** One of a few values. `meanings` explains them where their names do not. */
export const word = <const Value extends string>(
  values: readonly Value[],
  description: string,
  meanings?: Readonly<Record<Value, string>>,
) => z.enum(values).meta({ description, ...(meanings && { meanings }) });
