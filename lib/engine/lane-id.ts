import { createHash } from "node:crypto";
import { type Mutation, requestField } from "../contract/operation.ts";
import type { CommandRequestBody } from "./command.ts";

/** SQS takes message group ids up to this length. */
const MAX_GROUP_ID_LENGTH = 128;

/** Names the lane of a command: account, kind of resource, and the fields that identify it. */
export const laneIdOf = (
  operation: Mutation,
  account: string,
  request: CommandRequestBody,
): string => {
  const parts = operation.lane.by.map((field) => requestField(request, field) ?? "");
  return [account, operation.lane.resource, ...parts]
    .map((part) => encodeURIComponent(String(part)))
    .join("/");
};

/** The queue's message group of a lane. */
export const groupIdOf = (lane: string): string =>
  lane.length <= MAX_GROUP_ID_LENGTH ? lane : createHash("sha256").update(lane).digest("hex");
