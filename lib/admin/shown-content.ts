import { redactorOf } from "../engine/redaction.ts";
import type { CommandRequest } from "../engine/request.ts";
import type { JsonObject, JsonValue } from "../platform/ports/ledger.ts";

const REDACTED = "[redacted]";
const NOT_SHOWN = "[not shown]";
/** Of what is not valid only an outline is shown: so deep, and so many fields of one object. */
const MAX_LEVELS = 4;
const MAX_FIELDS = 50;
const MAX_NAME_CHARACTERS = 100;

/** A copy in which every text has gone through `change`. */
const withTexts = (value: JsonValue, change: (text: string) => string): JsonValue => {
  if (typeof value === "string") return change(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((each: JsonValue) => withTexts(each, change));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, withTexts(each, change)]),
  );
};

const bodyOf = ({ operation, request }: CommandRequest): JsonObject | undefined => {
  if (!request.body) return undefined;
  const secret = new Set<string>(operation.secrets ?? []);
  const redact = redactorOf(operation, request);
  return Object.fromEntries(
    Object.entries(request.body).map(([name, value]) => [
      name,
      secret.has(`body.${name}`) ? REDACTED : withTexts(value, redact),
    ]),
  );
};

const iso = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString();

/** What a valid request asks for, secrets left out: their fields, and their values in other texts. */
export const shownRequest = (given: CommandRequest): JsonObject => {
  const { request, after, guards, dryRun } = given;
  const body = bodyOf(given);
  const askedAt = iso(given.askedAt);
  const deadline = iso(given.deadline);
  return {
    operation: given.operation.id,
    params: request.params,
    query: request.query,
    ...(body && { body }),
    ...(askedAt !== undefined && { askedAt }),
    ...(deadline !== undefined && { deadline }),
    ...(after.length > 0 && { after }),
    ...(guards.length > 0 && { guards: guards.map(plainGuard) }),
    ...(dryRun && { dryRun }),
  };
};

const plainGuard = (guard: CommandRequest["guards"][number]): JsonValue =>
  JSON.parse(JSON.stringify(guard));

/**
 * The names of the fields of what is not valid. Nobody can tell which of its values are secret: a
 * misspelt `envs` holds what `envs` would.
 */
export const outlineOf = (value: unknown, levels = MAX_LEVELS): JsonValue => {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return NOT_SHOWN;
  const fields = Object.entries(value);
  if (levels === 0) return NOT_SHOWN;
  return Object.fromEntries([
    ...fields
      .slice(0, MAX_FIELDS)
      .map(([name, each]) => [name.slice(0, MAX_NAME_CHARACTERS), outlineOf(each, levels - 1)]),
    ...(fields.length > MAX_FIELDS ? [["…", `${fields.length - MAX_FIELDS} more`]] : []),
  ]);
};
