import * as z from "zod";
import { unlimitedText } from "./values.ts";

/** A rule in the contract's own words, about a value or one of its fields. */
export interface OwnRule {
  readonly field?: string | undefined;
  readonly text: string;
  /** Whether it describes the whole value, not only a further limit. */
  readonly isWhole: boolean;
}

/** The checks of every text say nothing about one field. */
const OF_EVERY_TEXT = new Set<unknown>(unlimitedText._zod.def.checks);

type ErrorText = (issue: { readonly code: string; readonly input: unknown }) => unknown;

const wordedSchema = z.looseObject({
  error: z.custom<ErrorText>((value) => typeof value === "function").optional(),
});

/** The own error text of a type or a check. */
const textOf = (definition: unknown): string | undefined => {
  // Without a value, some rules only say "required".
  const text = wordedSchema.parse(definition).error?.({ code: "custom", input: "" });
  return typeof text === "string" ? text : undefined;
};

const pathSchema = z.looseObject({ path: z.tuple([z.string()]) });

/** The rules that a schema states in words, because JSON Schema lacks them or has only patterns. */
export const ownRulesOf = (schema: z.core.$ZodType): readonly OwnRule[] => {
  const { def } = schema._zod;
  const checks = (def.checks ?? []).filter((check) => !OF_EVERY_TEXT.has(check));
  const whole = textOf(def);
  return [
    ...(whole === undefined ? [] : [{ text: whole, isWhole: true }]),
    ...checks.flatMap((check) => {
      const text = textOf(check._zod.def);
      if (text === undefined) return [];
      const field = pathSchema.safeParse(check._zod.def).data?.path[0];
      return [{ field, text, isWhole: check._zod.def.check === "string_format" }];
    }),
  ];
};
