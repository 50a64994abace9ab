import type { Family } from "../contract/operation.ts";

/** Every way to refuse a request: HTTP status and, for the cloud family, the provider's class name. */
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

/** Field (dots between levels) to the rules that its value breaks. */
export type InvalidFields = Readonly<Record<string, readonly string[]>>;

/** Refuses a request, of which nothing has changed; the app turns it into a response. */
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

/** An answer should not be larger than its request. */
const MAX_NAMED_FIELDS = 20;

/** 400, naming the first fields and their rules. */
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

/** 404, also for a record of another client. */
export const notFound = (what: string): RefusedError =>
  new RefusedError("not-found", `${what} not found`);

export const conflict = (message: string): RefusedError => new RefusedError("conflict", message);

/** The bare 500 of a fault of the service; only `onFault` gets the details. */
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
