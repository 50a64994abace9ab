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

/** A request is refused; nothing has changed. Thrown anywhere, turned into a response in one place. */
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

/** More help nobody, and an answer should not be larger than what it answers. */
const MAX_TOLD_FIELDS = 20;

/** 400, naming the fields and their rules: of very many the first ones. */
export const invalid = (fields: InvalidFields): RefusedError => {
  const entries = Object.entries(fields);
  const told = entries.slice(0, MAX_TOLD_FIELDS);
  const left = entries.length - told.length;
  const message = [
    ...told.map(([field, rules]) => `${field}: ${rules.join(", ")}`),
    ...(left > 0 ? [`and ${left} more`] : []),
  ].join("; ");
  return new RefusedError("invalid", message, Object.fromEntries(told));
};

/** 404, also for what belongs to somebody else. */
export const notFound = (what: string): RefusedError =>
  new RefusedError("not-found", `${what} not found`);

/** 409: the state of things forbids it. */
export const conflict = (message: string): RefusedError => new RefusedError("conflict", message);

/** What the caller sees of a fault of ours; the details go to `onFault` only. */
export const fault = (): RefusedError => new RefusedError("fault", "internal error");

/** The error body of the family that the path belongs to. */
export const errorBody = (family: Family, error: RefusedError, requestId: string): object => {
  switch (family) {
    case "cloud":
      return {
        exception_class: REFUSALS[error.code].exceptionClass,
        message: error.message,
        request_id: requestId,
        ...(error.invalidFields && { invalid_fields: error.invalidFields }),
      };
    case "storage":
    case "streaming":
      return { error: error.message };
    default:
      return family satisfies never;
  }
};
