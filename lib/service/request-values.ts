import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { problemsOf } from "../contract/problem.ts";
import { type InvalidFields, invalid } from "./errors.ts";
import { createTextReader } from "./request-texts.ts";

/** A request's values as they arrived: all text, except for the body's JSON. */
export interface RawValues {
  readonly params: Readonly<Record<string, string>>;
  readonly query: ReadonlyMap<string, readonly string[]>;
  readonly body: unknown;
}

export interface ValueSchemas<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

/** Many clients send an empty object with every POST; it says as little as no body. */
const isNothing = (body: unknown): boolean => body === undefined || isDeepStrictEqual(body, {});

type Part = "path" | "query" | "body";

/** Rules by field; a rule about a part as a whole is filed under the part's own name. */
const collect = (errors: readonly (readonly [Part, z.ZodError | undefined])[]): InvalidFields => {
  const fields = new Map<string, string[]>();
  for (const [part, error] of errors) {
    for (const { path, rule } of problemsOf(error?.issues ?? [])) {
      const field = path || part;
      fields.set(field, [...(fields.get(field) ?? []), rule]);
    }
  }
  return Object.fromEntries(fields);
};

export interface Values<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> {
  readonly params: z.output<P>;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
}

/**
 * Reads requests' values by an operation's schemas, all problems of all three parts together.
 * @throws RefusedError (from the returned function) 400 naming each field and the rule it breaks,
 * never a value
 */
export const createValueReader = <
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
>(
  schemas: ValueSchemas<P, Q, B>,
): ((raw: RawValues) => Values<P, Q, B>) => {
  const readParams = createTextReader(schemas.params);
  const readQuery = createTextReader(schemas.query);
  const takesNoBody = schemas.body instanceof z.ZodUndefined;
  return (raw) => {
    const pathTexts = Object.entries(raw.params).map(([name, text]) => [name, [text]] as const);
    const params = schemas.params.safeParse(readParams(pathTexts));
    const query = schemas.query.safeParse(readQuery(raw.query));
    const body = schemas.body.safeParse(takesNoBody && isNothing(raw.body) ? undefined : raw.body);
    if (!params.success || !query.success || !body.success) {
      throw invalid(
        collect([
          ["path", params.error],
          ["query", query.error],
          ["body", body.error],
        ]),
      );
    }
    return { params: params.data, query: query.data, body: body.data };
  };
};
