import * as z from "zod";
import { DEFAULT_ACCOUNT } from "../accounts/account.ts";
import { MUTATIONS } from "../contract/mutations.ts";
import { type Problem, problemsOf } from "../contract/problem.ts";
import { checkRequest } from "./check-request.ts";
import { laneIdOf } from "./lane-id.ts";
import {
  commandRequestedSchema,
  type ReadRequest,
  type Rejection,
  type RejectionReason,
  type requestDataSchema,
} from "./request.ts";
import { nameProblems, sizeProblems } from "./request-limits.ts";

type Identity = Pick<Rejection, "operation" | "commandId" | "eventId" | "correlationId">;
type Data = z.output<typeof requestDataSchema>;

const NOT_SUPPORTED = ["after", "guards", "dryRun"] as const;

const optionalId = (maxLength: number) =>
  z.string().min(1).max(maxLength).optional().catch(undefined);

/** What can be read of a request of any shape, so that even a broken one can be answered. */
const looseSchema = z
  .looseObject({
    metadata: z
      .looseObject({
        id: optionalId(256),
        commandId: optionalId(128),
        correlationId: optionalId(256),
      })
      .catch({}),
    data: z.looseObject({ operation: z.string().catch("") }).catch({ operation: "" }),
  })
  .catch({ metadata: {}, data: { operation: "" } });

/** Problems of everything around params, query and body; paths are relative to the data. */
const shapeProblems = (raw: unknown): readonly Problem[] => {
  const strict = commandRequestedSchema.safeParse(raw);
  return strict.success
    ? []
    : problemsOf(strict.error.issues).map(({ path, rule }) => ({
        path: path.replace(/^data\./, ""),
        rule,
      }));
};

const unsupportedIn = (data: Data): readonly Problem[] =>
  NOT_SUPPORTED.filter((field) => {
    const value = data[field];
    return Array.isArray(value) ? value.length > 0 : value === true;
  }).map((path) => ({ path, rule: "not supported yet" }));

/** Why data of the right shape cannot become a command, or undefined. */
const refusalOf = (
  data: Data,
  hasAccount: (name: string) => boolean,
): Pick<Rejection, "reason" | "problems"> | undefined => {
  const unsupported = unsupportedIn(data);
  if (unsupported.length > 0) return { reason: "not-supported", problems: unsupported };
  return hasAccount(data.account ?? DEFAULT_ACCOUNT)
    ? undefined
    : { reason: "unknown-account", problems: [{ path: "account", rule: "no such account" }] };
};

/**
 * Reads a request of any shape against the contract. Pure: time, repeats and room in the lane are
 * looked at later.
 * @param hasAccount whether an account of that name exists
 */
export const readRequest = (raw: unknown, hasAccount: (name: string) => boolean): ReadRequest => {
  const loose = looseSchema.parse(raw);
  const identity: Identity = {
    operation: loose.data.operation,
    commandId: loose.metadata.commandId ?? loose.metadata.id,
    eventId: loose.metadata.id,
    correlationId: loose.metadata.correlationId,
  };
  const reject = (reason: RejectionReason, problems: readonly Problem[]): ReadRequest => ({
    kind: "rejected",
    rejection: { reason, problems, ...identity },
  });

  const size = sizeProblems(raw);
  if (size.length > 0) return reject("invalid", size);
  const shape = shapeProblems(raw);
  const operation = MUTATIONS.find(({ id }) => id === identity.operation);
  if (!operation) {
    const rule = `no such operation; one of ${MUTATIONS.map(({ id }) => id).join(", ")}`;
    const others = shape.filter(({ path }) => path !== "operation");
    return reject("unknown-operation", [{ path: "operation", rule }, ...others]);
  }
  const { request, ...checked } = checkRequest(operation, loose.data);
  const problems = [...shape, ...("problems" in checked ? checked.problems : [])];
  const strict = commandRequestedSchema.safeParse(raw);
  const { commandId } = identity;
  if (!request || !strict.success) return reject("invalid", problems);
  const names = nameProblems(operation, request);
  if (names.length > 0) return reject("invalid", names);
  if (!commandId) return reject("invalid", [{ path: "metadata.commandId", rule: "required" }]);
  const refusal = refusalOf(strict.data.data, hasAccount);
  if (refusal) return reject(refusal.reason, refusal.problems);

  const { metadata, data } = strict.data;
  const account = data.account ?? DEFAULT_ACCOUNT;
  return {
    kind: "valid",
    request: {
      commandId,
      eventId: metadata.id ?? commandId,
      correlationId: metadata.correlationId ?? commandId,
      askedAt: metadata.time === undefined ? undefined : Date.parse(metadata.time),
      account,
      operation,
      request,
      lane: laneIdOf(operation, account, request),
      deadline: data.deadline === undefined ? undefined : Date.parse(data.deadline),
    },
  };
};
