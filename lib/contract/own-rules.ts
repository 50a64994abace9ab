import * as z from "zod";
import { unlimitedText } from "./values.ts";

/** A rule in the contract's own words, about the value itself or about a field of it. */
export interface OwnRule {
  readonly field?: string | undefined;
  readonly text: string;
  /** Whether it says what the value is, and not only what more it has to keep to. */
  readonly isWhole: boolean;
}

/** What every text has to keep to says nothing about one field. */
const OF_EVERY_TEXT = new Set<unknown>(unlimitedText._zod.def.checks);

type TellError = (issue: { readonly code: string; readonly input: unknown }) => unknown;

const wordedSchema = z.looseObject({
  error: z.custom<TellError>((value) => typeof value === "function").optional(),
});

/** What a definition of a type or a check says when it is broken, in words of ours. */
const textOf = (definition: unknown): string | undefined => {
  // Any value that is there: without one, some rules only say "required".
  const told = wordedSchema.parse(definition).error?.({ code: "custom", input: "" });
  return typeof told === "string" ? told : undefined;
};

const pathSchema = z.looseObject({ path: z.tuple([z.string()]) });

/** The rules that a schema states in words: what JSON Schema cannot say, or only in patterns. */
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
