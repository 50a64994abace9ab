import { isDeepStrictEqual } from "node:util";
import type { ItemContent } from "../ledger/record.ts";

type JsonRecord = Readonly<Record<string, unknown>>;

/** The fields of a command that its stored form leaves out, or shortens. */
interface Shortened {
  readonly id: string;
  readonly correlationId: string;
  readonly params: JsonRecord;
  readonly request?:
    | { readonly params: JsonRecord; readonly query: JsonRecord; readonly body?: unknown }
    | undefined;
  readonly attempts: readonly unknown[];
  readonly attemptCount: number;
  readonly lostReplies: number;
  readonly outbox: readonly unknown[];
}

const unlessEmpty = <T extends object>(value: T): T | undefined =>
  Object.keys(value).length > 0 ? value : undefined;

const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The form in which the ledger keeps a command. Most commands then fit a kilobyte, the write unit of DynamoDB. Key
 * and list entry of the item hold five fields, others follow from each other, and the schema has the defaults of the
 * rest. A command of an earlier version is stored whole, and what is there counts.
 */
export const storedCommand = {
  toStored: <C extends Shortened>(command: C): object => {
    const { id, correlationId, params, request, attempts, lostReplies } = command;
    return {
      ...command,
      ...{ sender: undefined, id: undefined },
      ...{ account: undefined, operation: undefined, lane: undefined },
      correlationId: correlationId === id ? undefined : correlationId,
      request: request && {
        ...request,
        params: isDeepStrictEqual(request.params, params) ? undefined : request.params,
        query: unlessEmpty(request.query),
      },
      attempts: unlessEmpty(attempts),
      attemptCount: command.attemptCount === attempts.length ? undefined : command.attemptCount,
      lostReplies: lostReplies === 0 ? undefined : lostReplies,
      outbox: unlessEmpty(command.outbox),
    };
  },
  fromStored: ({ key, value, listing }: ItemContent): unknown => {
    // Before the list there was the whole form only.
    if (listing?.sender === undefined) return value;
    const { sender, account, operation, resource: lane } = listing;
    const id = key.slice(`${sender}/`.length);
    const { request, params, attempts } = value;
    return {
      ...{ sender, id, account, operation, lane, correlationId: id },
      attemptCount: Array.isArray(attempts) ? attempts.length : 0,
      ...value,
      ...(isRecord(request) && { request: { params, query: {}, ...request } }),
    };
  },
};
