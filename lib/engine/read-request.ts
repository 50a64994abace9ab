import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { COMMANDED } from "../contract/operations.ts";
import { type Problem, problemsOf } from "../contract/problem.ts";
import { commandRequestedSchema, idOf, MAX_COMMAND_ID_LENGTH } from "../events/requests.ts";
import {
  laneIdOf,
  nameProblems,
  type ReadRequest,
  type Rejection,
  type RequestContext,
  sizeProblems,
} from "./request.ts";
import { type CommandRequestBody, requestSchema } from "./request-body.ts";

const checkField = (
  schema: z.ZodType,
  raw: unknown,
  name: string,
): { readonly value?: unknown; readonly problems: readonly Problem[] } => {
  // Encoding checks the decoded form that senders write; decoding gives it one canonical form.
  const wire = z.safeEncode(schema, raw);
  return wire.success
    ? { value: z.decode(schema, wire.data), problems: [] }
    : { problems: problemsOf(wire.error.issues, [name]) };
};

/** Checks params, query and body together, so that one answer names every offending field. */
export const checkRequest = (
  operation: Mutation,
  data: Readonly<Record<string, unknown>>,
):
  | { readonly request: CommandRequestBody; readonly problems?: never }
  | { readonly request?: never; readonly problems: readonly Problem[] } => {
  const params = checkField(operation.params, data.params ?? {}, "params");
  const query = checkField(operation.query, data.query ?? {}, "query");
  const body = checkField(operation.body, data.body, "body");
  const problems = [...params.problems, ...query.problems, ...body.problems];
  if (problems.length > 0) return { problems };
  const request = {
    params: params.value,
    query: query.value,
    ...(body.value !== undefined && { body: body.value }),
  };
  return { request: requestSchema.parse(request) };
};

type Identity = Omit<Rejection, "reason" | "problems">;
type Refusal = Pick<Rejection, "reason" | "problems">;

const optionalId = (maxLength: number) => idOf(maxLength).optional().catch(undefined);

/** The parts that identify a request of any shape, so that even a broken one gets an answer. */
const looseSchema = z
  .looseObject({
    metadata: z
      .looseObject({
        id: optionalId(256),
        commandId: optionalId(MAX_COMMAND_ID_LENGTH),
        correlationId: optionalId(256),
      })
      .catch({}),
    data: z.looseObject({ operation: z.string().catch("") }).catch({ operation: "" }),
  })
  .catch({ metadata: {}, data: { operation: "" } });

type Shape = ReturnType<typeof commandRequestedSchema.safeParse>;

const problemsIn = ({ error }: Shape): readonly Problem[] =>
  error
    ? problemsOf(error.issues).map(({ path, rule }) => ({
        path: path.replace(/^data\./, ""),
        rule,
      }))
    : [];

/** Problems of everything around params, query and body; paths are relative to the data. */
export const shapeProblems = (raw: unknown): readonly Problem[] =>
  problemsIn(commandRequestedSchema.safeParse(raw));

const invalid = (problems: readonly Problem[]): Refusal => ({ reason: "invalid", problems });

/** The same text for every refusal, so that a sender without rights learns nothing. */
const NOT_ALLOWED: Refusal = {
  reason: "not-allowed",
  problems: [
    {
      path: "",
      rule: "the sender has no right to this request; rights are granted under `senders` in the accounts file",
    },
  ],
};

const ACCOUNT_MISSING = {
  path: "account",
  rule: "required: the sender may use more than one account",
};

const projectIn = (params: unknown): number | undefined =>
  z.object({ project_id: z.int() }).safeParse(params).data?.project_id;

/** A request that follows the contract; the rights of its sender are still unchecked. */
interface Parts {
  readonly operation: Mutation;
  readonly request: CommandRequestBody;
  readonly strict: z.output<typeof commandRequestedSchema>;
}

const isAllowed = (
  { sender, access }: RequestContext,
  account: string,
  { operation, request, strict }: Parts,
): boolean =>
  access.mayRun({ sender, account, operation: operation.id, project: projectIn(request.params) }) &&
  (strict.data.guards ?? []).every((guard) =>
    access.maySee(sender, account, projectIn(guard.floating_ip ?? guard.network)),
  );

/**
 * Problems of path parameters that lead into another project if a gateway decodes them before it
 * routes. A sender with rights to all projects gains nothing by that, so its parameters pass.
 */
const traversalProblems = (
  { sender, access }: RequestContext,
  account: string,
  params: Readonly<Record<string, unknown>>,
): readonly Problem[] =>
  access.maySee(sender, account, undefined)
    ? []
    : Object.entries(params)
        .filter(([, value]) => typeof value === "string" && /[/\\\p{Cc}]/u.test(value))
        .map(([name]) => ({
          path: `params.${name}`,
          rule: "must not contain slashes, backslashes or control characters",
        }));

/** Each follow-task command has a lane of its own, because several may follow one task. */
const laneOf = ({ operation, request }: Parts, account: string, key: readonly string[]): string =>
  [
    laneIdOf(operation, account, request),
    ...(operation.follows ? key.map(encodeURIComponent) : []),
  ].join("/");

/** The parts of a request, or why it does not follow the contract. */
const readParts = (raw: unknown, { data }: z.output<typeof looseSchema>): Parts | Refusal => {
  const size = sizeProblems(raw);
  if (size.length > 0) return invalid(size);
  const strict = commandRequestedSchema.safeParse(raw);
  const shape = problemsIn(strict);
  const operation = COMMANDED.find(({ id }) => id === data.operation);
  if (!operation) {
    const rule = `no such operation; one of ${COMMANDED.map(({ id }) => id).join(", ")}`;
    const others = shape.filter(({ path }) => path !== "operation");
    return { reason: "unknown-operation", problems: [{ path: "operation", rule }, ...others] };
  }
  const { request, problems = [] } = checkRequest(operation, data);
  if (!request || !strict.success) return invalid([...shape, ...problems]);
  const names = nameProblems(operation, request);
  return names.length > 0 ? invalid(names) : { operation, request, strict: strict.data };
};

const identityIn = (
  { metadata, data }: z.output<typeof looseSchema>,
  { sender, eventId: carriedBy }: RequestContext,
): Identity => {
  const eventId = metadata.id ?? carriedBy;
  // The event's id replaces a missing command id, if it is short enough.
  const fallback = (eventId?.length ?? 0) > MAX_COMMAND_ID_LENGTH ? undefined : eventId;
  return {
    sender,
    operation: data.operation,
    commandId: metadata.commandId ?? fallback,
    eventId,
    correlationId: metadata.correlationId,
  };
};

/** The identity of a request of any shape; parts that cannot be read are undefined. */
export const identityOf = (raw: unknown, context: RequestContext): Identity =>
  identityIn(looseSchema.parse(raw), context);

/**
 * Reads a request of any shape against the contract and the sender's rights. Pure: time, repeats and
 * room in the lane are checked later.
 */
export const readRequest = (raw: unknown, context: RequestContext): ReadRequest => {
  const { sender, access } = context;
  const loose = looseSchema.parse(raw);
  const identity = identityIn(loose, context);
  const reject = (refusal: Refusal): ReadRequest => ({
    kind: "rejected",
    rejection: { ...refusal, ...identity },
  });

  const parts = readParts(raw, loose);
  if ("reason" in parts) return reject(parts);
  const { operation, request, strict } = parts;
  const { metadata, data } = strict;
  const { after = [], guards = [], dryRun = false } = data;
  const { commandId } = identity;
  if (commandId === undefined) {
    return reject(invalid([{ path: "metadata.commandId", rule: "required" }]));
  }
  if (after.includes(commandId)) {
    const path = `after.${after.indexOf(commandId)}`;
    return reject(invalid([{ path, rule: "a command cannot wait for itself" }]));
  }
  const [only, ...others] = access.accountsOf(sender);
  if (data.account === undefined && others.length > 0) return reject(invalid([ACCOUNT_MISSING]));
  const account = data.account ?? only;
  if (account === undefined || !isAllowed(context, account, parts)) return reject(NOT_ALLOWED);
  const traversals = traversalProblems(context, account, request.params);
  if (traversals.length > 0) return reject(invalid(traversals));
  return {
    kind: "valid",
    request: {
      sender,
      commandId,
      eventId: identity.eventId ?? commandId,
      correlationId: metadata.correlationId ?? commandId,
      askedAt: metadata.time === undefined ? context.sentAt : Date.parse(metadata.time),
      account,
      operation,
      request,
      lane: laneOf(parts, account, [sender, commandId]),
      deadline: data.deadline === undefined ? undefined : Date.parse(data.deadline),
      after: [...new Set(after)],
      guards,
      dryRun,
    },
  };
};
