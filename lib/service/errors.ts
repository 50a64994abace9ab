import type { Family } from "../contract/operation.ts";

/** Every refusal of a request: its HTTP status and the provider's class name in bodies of the cloud family. */
const REFUSALS = {
  invalid: { status: 400, exceptionClass: "ValidationError" },
  "not-authenticated": { status: 401, exceptionClass: "not_authenticated" },
  "token-not-valid": { status: 401, exceptionClass: "token_not_valid" },
  forbidden: { status: 403, exceptionClass: "ForbiddenError" },
  "not-found": { status: 404, exceptionClass: "NotFoundError" },
  "method-not-allowed": { status: 405, exceptionClass: "HTTPError" },
  conflict: { status: 409, exceptionClass: "ConflictError" },
  "too-large": { status: 413, exceptionClass: "HTTPError" },
  "unsupported-media-type": { status: 415, exceptionClass: "HTTPError" },
  "too-many-requests": { status: 429, exceptionClass: "HTTPError" },
  fault: { status: 500, exceptionClass: "InternalServerError" },
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** Broken rules by field; dots separate the levels of a field's path. */
export type InvalidFields = Readonly<Record<string, readonly string[]>>;

/** Refuses a request without having changed anything. The app turns it into a response. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly code: RefusalCode;
  readonly invalidFields: InvalidFields | undefined;

  constructor(code: RefusalCode, message: string, invalidFields?: InvalidFields) {
    super(message);
    this.code = code;
    this.invalidFields = invalidFields;
  }

  get status() {
    return REFUSALS[this.code].status;
  }
}

/** Keeps a response smaller than the request that caused it. */
const MAX_NAMED_FIELDS = 20;

/** 400 that lists up to 20 fields, each with the rules that it breaks. */
export const invalid = (fields: InvalidFields): RefusedError => {
  const entries = Object.entries(fields);
  const named = entries.slice(0, MAX_NAMED_FIELDS);
  const left = entries.length - named.length;
  const message = [
    ...named.map(([field, rules]) => `${field}: ${rules.join(", ")}`),
    ...(left > 0 ? [`and ${left} more`] : []),
  ].join("; ");
  return new RefusedError("invalid", message, Object.fromEntries(named));
};

/** 404. A record of another client gets the same error, so that a caller cannot find out that it exists. */
export const notFound = (what: string): RefusedError =>
  new RefusedError("not-found", `${what} not found`);

/** 409. */
export const conflict = (message: string): RefusedError => new RefusedError("conflict", message);

/** Text of the 409 for a resource that a task locks. */
export const locked = (what: string, taskId: string): string =>
  `task ${taskId} locks the ${what}; retry when the task has ended`;

/** 500 without details, for a fault of the service. Only `onFault` receives the details. */
export const fault = (): RefusedError => new RefusedError("fault", "internal error");

export const errorBody = (family: Family, error: RefusedError, requestId: string): object => {
  if (family !== "cloud") return { error: error.message };
  return {
    exception_class: REFUSALS[error.code].exceptionClass,
    message: error.message,
    request_id: requestId,
    ...(error.invalidFields && { invalid_fields: error.invalidFields }),
  };
};

/** The documented error body for a status that a fault rule asks for, with any status from 400 to 599. */
export const injectedErrorBody = (family: Family, status: number, requestId: string): object => {
  const message = `injected by a fault rule: status ${status}`;
  if (family !== "cloud") return { error: message };
  const known = Object.values(REFUSALS).find((refusal) => refusal.status === status);
  const exceptionClass =
    known?.exceptionClass ?? (status < 500 ? "HTTPError" : "InternalServerError");
  return { exception_class: exceptionClass, message, request_id: requestId };
};
