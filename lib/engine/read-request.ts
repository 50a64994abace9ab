import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { COMMANDED } from "../contract/operations.ts";
import { type Problem, problemsOf } from "../contract/problem.ts";
import { followTask } from "../contract/tasks.ts";
import { unlimitedText } from "../contract/values.ts";
import { type CommandRequestBody, requestSchema } from "./command.ts";
import { laneIdOf } from "./lane.ts";
import {
  commandRequestedSchema,
  guardParams,
  nameProblems,
  type ReadRequest,
  type Rejection,
  type RequestContext,
  type requestDataSchema,
  sizeProblems,
} from "./request.ts";

const checkPlace = (
  schema: z.ZodType,
  raw: unknown,
  name: string,
): { readonly value: unknown; readonly problems: readonly Problem[] } => {
  // Encoding checks the decoded form that senders write; decoding gives it one canonical form.
  const wire = z.safeEncode(schema, raw);
  return wire.success
    ? { value: z.decode(schema, wire.data), problems: [] }
    : { value: undefined, problems: problemsOf(wire.error.issues, [name]) };
};

/** Checks params, query and body together, so that one answer names every offending field. */
export const checkRequest = (
  operation: Mutation,
  data: Readonly<Record<string, unknown>>,
):
  | { readonly request: CommandRequestBody }
  | { readonly request?: never; readonly problems: readonly Problem[] } => {
  const params = checkPlace(operation.params, data.params ?? {}, "params");
  const query = checkPlace(operation.query, data.query ?? {}, "query");
  const body = checkPlace(operation.body, data.body, "body");
  const problems = [...params.problems, ...query.problems, ...body.problems];
  return problems.length > 0
    ? { problems }
    : {
        request: requestSchema.parse({
          params: params.value,
          query: query.value,
          ...(body.value !== undefined && { body: body.value }),
        }),
      };
};

type Identity = Omit<Rejection, "reason" | "problems">;
type Refusal = Pick<Rejection, "reason" | "problems">;
type Data = z.output<typeof requestDataSchema>;

/** What becomes part of a ledger key. */
const MAX_COMMAND_ID_LENGTH = 128;

const optionalId = (maxLength: number) =>
  unlimitedText.min(1).max(maxLength).optional().catch(undefined);

/** What can be read of a request of any shape, so that even a broken one can be answered. */
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

/** Problems of everything around params, query and body; paths are relative to the data. */
export const shapeProblems = (raw: unknown): readonly Problem[] => {
  const strict = commandRequestedSchema.safeParse(raw);
  return strict.success
    ? []
    : problemsOf(strict.error.issues).map(({ path, rule }) => ({
        path: path.replace(/^data\./, ""),
        rule,
      }));
};

const invalid = (problems: readonly Problem[]): Refusal => ({ reason: "invalid", problems });

/** The same words whatever there is: who has no rights learns nothing. */
const NOT_ALLOWED: Refusal = {
  reason: "not-allowed",
  problems: [{ path: "", rule: "not allowed to this sender" }],
};

const ACCOUNT_MISSING = { path: "account", rule: "required: this sender may use several" };

const projectIn = (params: unknown): number | undefined =>
  z.object({ project_id: z.int() }).safeParse(params).data?.project_id;

const isAllowed = (
  { sender, access }: RequestContext,
  {
    account,
    operation,
    request,
  }: { account: string; operation: Mutation; request: CommandRequestBody },
  { guards = [] }: Data,
): boolean =>
  access.mayRun({ sender, account, operation: operation.id, project: projectIn(request.params) }) &&
  guards.every((guard) => access.maySee(sender, account, projectIn(guardParams(guard))));

/**
 * Path parameters that a gateway could take for a way into another project, if it decodes them before
 * it routes. Whoever may act in all projects gains nothing by one.
 */
const waysOut = (
  { sender, access }: RequestContext,
  account: string,
  params: Readonly<Record<string, unknown>>,
): readonly Problem[] =>
  access.maySee(sender, account, undefined)
    ? []
    : Object.entries(params)
        .filter(([, value]) => typeof value === "string" && /[/\\\p{Cc}]/u.test(value))
        .map(([name]) => ({ path: `params.${name}`, rule: "no slashes or control characters" }));

/** A follower's lane is its own: others may follow the same task. */
const laneOf = (
  operation: Mutation,
  account: string,
  request: CommandRequestBody,
  key: readonly string[],
): string =>
  [
    laneIdOf(operation, account, request),
    ...(operation.id === followTask.id ? key.map(encodeURIComponent) : []),
  ].join("/");

/** The parts of a request that follows the contract, or why it cannot become a command. */
const readParts = (
  raw: unknown,
  loose: z.output<typeof looseSchema>,
):
  | {
      operation: Mutation;
      request: CommandRequestBody;
      strict: z.output<typeof commandRequestedSchema>;
    }
  | Refusal => {
  const size = sizeProblems(raw);
  if (size.length > 0) return invalid(size);
  const shape = shapeProblems(raw);
  const operation = COMMANDED.find(({ id }) => id === loose.data.operation);
  if (!operation) {
    const rule = `no such operation; one of ${COMMANDED.map(({ id }) => id).join(", ")}`;
    const others = shape.filter(({ path }) => path !== "operation");
    return { reason: "unknown-operation", problems: [{ path: "operation", rule }, ...others] };
  }
  const { request, ...checked } = checkRequest(operation, loose.data);
  const strict = commandRequestedSchema.safeParse(raw);
  if (!request || !strict.success) {
    return invalid([...shape, ...("problems" in checked ? checked.problems : [])]);
  }
  const names = nameProblems(operation, request);
  return names.length > 0 ? invalid(names) : { operation, request, strict: strict.data };
};

/** Why a request of the right form cannot become a command, whoever sends it. */
const identityProblem = (
  commandId: string | undefined,
  after: readonly string[],
): Refusal | undefined => {
  if (commandId === undefined) return invalid([{ path: "metadata.commandId", rule: "required" }]);
  const at = after.indexOf(commandId);
  return at < 0
    ? undefined
    : invalid([{ path: `after.${at}`, rule: "a command cannot wait for itself" }]);
};

/** An event's id stands for that of a command, where it is no longer than one. */
const standIn = (id: string | undefined): string | undefined =>
  id === undefined || id.length > MAX_COMMAND_ID_LENGTH ? undefined : id;

const identityIn = (
  { metadata, data }: z.output<typeof looseSchema>,
  { sender, eventId }: RequestContext,
): Identity => ({
  sender,
  operation: data.operation,
  commandId: metadata.commandId ?? standIn(metadata.id ?? eventId),
  eventId: metadata.id ?? eventId,
  correlationId: metadata.correlationId,
});

/** Whose a request is, as far as it shows. */
export const identityOf = (raw: unknown, context: RequestContext): Identity =>
  identityIn(looseSchema.parse(raw), context);

/**
 * Reads a request of any shape against the contract and the sender's rights. Pure: time, repeats and
 * room in the lane are looked at later.
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
  const { commandId = "" } = identity;
  const problem = identityProblem(identity.commandId, after);
  if (problem) return reject(problem);
  const [only, ...others] = access.accountsOf(sender);
  if (data.account === undefined && others.length > 0) return reject(invalid([ACCOUNT_MISSING]));
  const account = data.account ?? only;
  if (account === undefined || !isAllowed(context, { account, operation, request }, data)) {
    return reject(NOT_ALLOWED);
  }
  const ways = waysOut(context, account, request.params);
  if (ways.length > 0) return reject(invalid(ways));
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
      lane: laneOf(operation, account, request, [sender, commandId]),
      deadline: data.deadline === undefined ? undefined : Date.parse(data.deadline),
      after: [...new Set(after)],
      guards,
      dryRun,
    },
  };
};
