import type {
  AttributeValue,
  CreateTableCommandInput,
  PutItemCommandInput,
  QueryCommandInput,
} from "@aws-sdk/client-dynamodb";
import {
  type DueEntry,
  type JsonObject,
  type Ledger,
  type LedgerItem,
  type ListEntry,
  type Listing,
  MAX_SHARDS,
  UnreadableItemError,
} from "../ports/ledger.ts";
import {
  createDynamodbCall,
  type DynamodbCall,
  type DynamodbCallOptions,
  isFailedCondition,
} from "./dynamodb-calls.ts";
import { fromStoredValue, toStoredValue } from "./stored-value.ts";

const DUE_INDEX = "due";

/**
 * Value of the due index's partition key. With one shard, all outstanding items share a partition on purpose: a poller
 * run with nothing to do is one query. A partition accepts 1,000 write units a second, and a command with one task
 * costs 4. Shard 0 has the name that the only partition of earlier versions had.
 */
const duePartition = (shard: number): string => (shard === 0 ? "due" : `due#${shard}`);

const LIST_INDEX = "list";
/** Key attributes of the list index. */
const LIST_PARTITION = "listPartition";
export const LIST_SORT = "listSort";
/** Attributes that the list index projects. */
const LIST_FIELDS = ["account", "operation", "sender", "resource"] as const;

/** Attribute with epoch seconds, as DynamoDB's time to live requires. */
export const EXPIRY_ATTRIBUTE = "expiresAt";

/** Definition of the ledger's table, without its name. Time to live is enabled separately. */
export const LEDGER_TABLE: Omit<CreateTableCommandInput, "TableName"> = {
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: [
    { AttributeName: "pk", AttributeType: "S" },
    { AttributeName: "due", AttributeType: "S" },
    { AttributeName: "dueAt", AttributeType: "N" },
    { AttributeName: LIST_PARTITION, AttributeType: "S" },
    { AttributeName: LIST_SORT, AttributeType: "S" },
  ],
  KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
  GlobalSecondaryIndexes: [
    {
      IndexName: DUE_INDEX,
      KeySchema: [
        { AttributeName: "due", KeyType: "HASH" },
        { AttributeName: "dueAt", KeyType: "RANGE" },
      ],
      Projection: { ProjectionType: "KEYS_ONLY" },
    },
    {
      IndexName: LIST_INDEX,
      KeySchema: [
        { AttributeName: LIST_PARTITION, KeyType: "HASH" },
        { AttributeName: LIST_SORT, KeyType: "RANGE" },
      ],
      Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: [...LIST_FIELDS] },
    },
  ],
};

/** Maximum length of a partition key. */
const MAX_KEY_BYTES = 2048;

export interface DynamodbLedgerOptions extends DynamodbCallOptions {
  /** Shard of the due index that the entry of a written item goes to, by its key; default: 0 for all. */
  readonly shardOf?: ((key: string) => number) | undefined;
}

type Attributes = Record<string, AttributeValue>;

/** The attributes that put an item into the list index. */
export const listingAttributes = (listing: Listing): Attributes => ({
  [LIST_PARTITION]: { S: listing.partition },
  [LIST_SORT]: { S: listing.sort },
  ...Object.fromEntries(
    LIST_FIELDS.flatMap((name) => {
      const text = listing[name];
      return text === undefined ? [] : [[name, { S: text }]];
    }),
  ),
});

const toAttributes = (item: LedgerItem, shardOf: (key: string) => number): Attributes => ({
  pk: { S: item.key },
  version: { N: String(item.version) },
  value: toStoredValue(item.value),
  ...(item.dueAt === undefined
    ? {}
    : { due: { S: duePartition(shardOf(item.key)) }, dueAt: { N: String(item.dueAt) } }),
  ...(item.expiresAt === undefined
    ? {}
    : { [EXPIRY_ATTRIBUTE]: { N: String(Math.ceil(item.expiresAt / 1000)) } }),
  ...(item.listing === undefined ? {} : listingAttributes(item.listing)),
});

const textOf = (attributes: Attributes, name: string): string => {
  const text = attributes[name]?.S;
  if (text === undefined)
    throw new UnreadableItemError(`a ledger item lacks the string attribute "${name}"`);
  return text;
};

const numberOf = (attributes: Attributes, name: string): number | undefined => {
  const text = attributes[name]?.N;
  return text === undefined ? undefined : Number(text);
};

const requiredNumberOf = (attributes: Attributes, name: string): number => {
  const number = numberOf(attributes, name);
  if (number === undefined)
    throw new UnreadableItemError(`a ledger item lacks the number attribute "${name}"`);
  return number;
};

const parsedValue = (attributes: Attributes): JsonObject => {
  const key = textOf(attributes, "pk");
  const { value } = attributes;
  if (value === undefined) throw new UnreadableItemError(`ledger item ${key} has no value`);
  try {
    return fromStoredValue(value);
  } catch {
    // The parser's message quotes the value, which may contain secrets of a request.
    throw new UnreadableItemError(`the value of ledger item ${key} is not readable JSON`);
  }
};

const toListing = (attributes: Attributes): Listing => ({
  partition: textOf(attributes, LIST_PARTITION),
  sort: textOf(attributes, LIST_SORT),
  ...Object.fromEntries(
    LIST_FIELDS.flatMap((name) => {
      const text = attributes[name]?.S;
      return text === undefined ? [] : [[name, text]];
    }),
  ),
});

const toItem = (attributes: Attributes): LedgerItem => {
  const dueAt = numberOf(attributes, "dueAt");
  const expiresAtSeconds = numberOf(attributes, EXPIRY_ATTRIBUTE);
  return {
    key: textOf(attributes, "pk"),
    version: requiredNumberOf(attributes, "version"),
    value: parsedValue(attributes),
    ...(dueAt === undefined ? {} : { dueAt }),
    ...(expiresAtSeconds === undefined ? {} : { expiresAt: expiresAtSeconds * 1000 }),
    ...(attributes[LIST_SORT] === undefined ? {} : { listing: toListing(attributes) }),
  };
};

const toDueEntry = (attributes: Attributes): DueEntry => ({
  key: textOf(attributes, "pk"),
  dueAt: requiredNumberOf(attributes, "dueAt"),
});

const toListEntry = (attributes: Attributes): ListEntry => ({
  key: textOf(attributes, "pk"),
  ...toListing(attributes),
});

const conditionOf = (item: LedgerItem): Partial<PutItemCommandInput> =>
  item.version === 1
    ? { ConditionExpression: "attribute_not_exists(pk)" }
    : {
        ConditionExpression: "#version = :previous",
        ExpressionAttributeNames: { "#version": "version" },
        ExpressionAttributeValues: { ":previous": { N: String(item.version - 1) } },
      };

/** Reads an index page by page, because a page ends at 1 MB, until `limit` items are read. */
const queryAll = async (
  call: DynamodbCall,
  query: QueryCommandInput,
  limit: number,
): Promise<readonly Attributes[]> => {
  const found: Attributes[] = [];
  let from: Attributes | undefined;
  do {
    const left = limit - found.length;
    const page = {
      ...query,
      Limit: Number.isFinite(left) ? left : undefined,
      ExclusiveStartKey: from,
    };
    const { Items = [], LastEvaluatedKey } = await call("Query", page);
    found.push(...Items);
    from = LastEvaluatedKey;
  } while (from !== undefined && found.length < limit);
  return found;
};

const ledgerOver = (
  call: DynamodbCall,
  tableName: string,
  shardOf: (key: string) => number,
): Ledger => ({
  async read(key) {
    // No item can have such a key, and DynamoDB refuses to read it.
    if (Buffer.byteLength(key) > MAX_KEY_BYTES) return undefined;
    const input = { TableName: tableName, Key: { pk: { S: key } }, ConsistentRead: true };
    const { Item } = await call("GetItem", input);
    return Item === undefined ? undefined : toItem(Item);
  },

  async write(item) {
    try {
      await call("PutItem", {
        TableName: tableName,
        Item: toAttributes(item, shardOf),
        ...conditionOf(item),
      });
      return "written";
    } catch (error) {
      if (!isFailedCondition(error)) throw error;
      // After a retry, the conflicting version may be that of the lost first attempt.
      if (error.$metadata.attempts === 1) return "conflict";
      throw new Error(
        `unknown whether version ${item.version} of ledger item ${item.key} was written`,
        {
          cause: error,
        },
      );
    }
  },

  async listDue(until, limit, shard, from = Number.MIN_SAFE_INTEGER) {
    const queryShard = async (at: number): Promise<readonly DueEntry[]> => {
      const query = {
        TableName: tableName,
        IndexName: DUE_INDEX,
        KeyConditionExpression: "due = :due AND dueAt BETWEEN :from AND :until",
        ExpressionAttributeValues: {
          ":due": { S: duePartition(at) },
          ":from": { N: String(from) },
          ":until": { N: String(until) },
        },
      };
      return (await queryAll(call, query, limit)).map(toDueEntry);
    };
    if (shard !== undefined) return queryShard(shard);
    const shards = await Promise.all(Array.from({ length: MAX_SHARDS }, (_, at) => queryShard(at)));
    return shards
      .flat()
      .sort((a, b) => a.dueAt - b.dueAt)
      .slice(0, limit);
  },

  async list(partition, before, limit) {
    const isBefore = before === undefined ? "" : ` AND ${LIST_SORT} < :before`;
    const query = {
      TableName: tableName,
      IndexName: LIST_INDEX,
      KeyConditionExpression: `${LIST_PARTITION} = :partition${isBefore}`,
      ExpressionAttributeValues: {
        ":partition": { S: partition },
        ...(before === undefined ? {} : { ":before": { S: before } }),
      },
      ScanIndexForward: false,
    };
    return (await queryAll(call, query, limit)).map(toListEntry);
  },
});

/**
 * The ledger in one DynamoDB table (see `LEDGER_TABLE`).
 *
 * `expiresAt` is stored in whole seconds, rounded up. DynamoDB removes an expired item up to days later;
 * until then, reads, conditions and the due index still see it.
 * A page of the due index ends at 1 MB, so `listDue` may need several queries.
 */
export const createDynamodbLedger = ({
  shardOf = () => 0,
  ...options
}: DynamodbLedgerOptions): Ledger =>
  ledgerOver(createDynamodbCall(options), options.tableName, shardOf);
