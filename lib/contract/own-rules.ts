import * as z from "zod";
import { lazy } from "./lazy.ts";
import { unlimitedText } from "./values.ts";

/** A rule that the contract states in words, about a value or one of its fields. */
export interface OwnRule {
  readonly field?: string | undefined;
  readonly text: string;
  /** True if the text describes the value completely, instead of adding a limit. */
  readonly isWhole: boolean;
}

/** Checks that every text has. Repeating them for each field would only add noise. */
const OF_EVERY_TEXT = lazy(() => new Set<unknown>(unlimitedText()._zod.def.checks));

type ErrorText = (issue: { readonly code: string; readonly input: unknown }) => unknown;

const wordedSchema = lazy(() =>
  z.looseObject({
    error: z.custom<ErrorText>((value) => typeof value === "function").optional(),
  }),
);

/** The custom error text of a schema or check; undefined without one. */
const textOf = (definition: unknown): string | undefined => {
  // With an undefined input, some texts are only "required".
  const text = wordedSchema().parse(definition).error?.({ code: "custom", input: "" });
  return typeof text === "string" ? text : undefined;
};

const pathSchema = lazy(() => z.looseObject({ path: z.tuple([z.string()]) }));

/** The rules of a schema that JSON Schema cannot state, or states only as a pattern. */
export const ownRulesOf = (schema: z.core.$ZodType): readonly OwnRule[] => {
  const { def } = schema._zod;
  const checks = (def.checks ?? []).filter((check) => !OF_EVERY_TEXT().has(check));
  const whole = textOf(def);
  return [
    ...(whole === undefined ? [] : [{ text: whole, isWhole: true }]),
    ...checks.flatMap((check) => {
      const text = textOf(check._zod.def);
      if (text === undefined) return [];
      const field = pathSchema().safeParse(check._zod.def).data?.path[0];
      return [{ field, text, isWhole: check._zod.def.check === "string_format" }];
    }),
  ];
};
