import { isDeeperThan } from "../contract/json.ts";
import { type Mutation, requestField } from "../contract/operation.ts";
import type { Problem } from "../contract/problem.ts";
import { pathText } from "../contract/values.ts";
import type { CommandRequestBody } from "./command.ts";

/** What EventBridge takes, and what fits a ledger item (400 kB) with everything beside it. */
const MAX_BYTES = 256_000;
/** Far more than any body of the contract has; readers of JSON run out of stack somewhere above. */
const MAX_LEVELS = 32;
/** As encoded in the lane's name: two of them and the rest fit a ledger key (2048 bytes). */
const MAX_NAME_CHARACTERS = 600;

/** Why a request, whatever is in it, is more than we can keep. */
export const sizeProblems = (raw: unknown): readonly Problem[] => {
  if (isDeeperThan(raw, MAX_LEVELS)) {
    return [{ path: "", rule: `nested deeper than ${MAX_LEVELS} levels` }];
  }
  return Buffer.byteLength(JSON.stringify(raw) ?? "") > MAX_BYTES
    ? [{ path: "", rule: `larger than ${MAX_BYTES} bytes` }]
    : [];
};

/** A reply names one task, rarely a few; what is kept of them has to fit a ledger item. */
const MAX_TASKS = 50;

const isTooLong = (value: unknown): boolean =>
  typeof value === "string" && encodeURIComponent(value).length > MAX_NAME_CHARACTERS;

/** Why the fields that name the resource cannot become part of a key. */
export const nameProblems = (
  operation: Mutation,
  request: CommandRequestBody,
): readonly Problem[] =>
  operation.lane.by
    .filter((field) => isTooLong(requestField(request, field)))
    .map((path) => ({ path, rule: `at most ${MAX_NAME_CHARACTERS} characters as part of a URL` }));

/** Whether tasks of these ids can be kept in the ledger and asked for. */
export const canBeFollowed = (taskIds: readonly string[]): boolean =>
  taskIds.length <= MAX_TASKS &&
  taskIds.every((id) => pathText.safeParse(id).success && !isTooLong(id));
