import type { UnlistedItems } from "../ports/unlisted-items.ts";
import {
  createDynamodbCall,
  type DynamodbCallOptions,
  isFailedCondition,
} from "./dynamodb-calls.ts";
import { LIST_SORT, listingAttributes } from "./dynamodb-ledger.ts";

/** Items of one page, so that the writes of a page stay a short burst. */
const PAGE_SIZE = 100;

const cursorOf = (key: string): string => Buffer.from(key).toString("base64url");
const keyOf = (cursor: string): string => Buffer.from(cursor, "base64url").toString();

/** Names and values for an update expression that sets each attribute. */
const settingAll = (attributes: ReturnType<typeof listingAttributes>) => {
  const all = Object.entries(attributes);
  return {
    expression: `SET ${all.map((_, index) => `#a${index} = :a${index}`).join(", ")}`,
    names: Object.fromEntries(all.map(([name], index) => [`#a${index}`, name])),
    values: Object.fromEntries(all.map(([, value], index) => [`:a${index}`, value])),
  };
};

/** Maintenance of the list index of the ledger's table. A page is one scan of 100 items. */
export const createDynamodbUnlistedItems = (options: DynamodbCallOptions): UnlistedItems => {
  const call = createDynamodbCall(options);
  const { tableName } = options;
  return {
    async find(prefixes, cursor) {
      const isWanted = prefixes.map((_, index) => `begins_with(pk, :p${index})`).join(" OR ");
      const reply = await call("Scan", {
        TableName: tableName,
        Limit: PAGE_SIZE,
        ...(cursor !== undefined && { ExclusiveStartKey: { pk: { S: keyOf(cursor) } } }),
        FilterExpression: `attribute_not_exists(${LIST_SORT}) AND (${isWanted})`,
        ExpressionAttributeValues: Object.fromEntries(
          prefixes.map((prefix, index) => [`:p${index}`, { S: prefix }]),
        ),
        ProjectionExpression: "pk",
      });
      const last = reply.LastEvaluatedKey?.pk?.S;
      return {
        keys: (reply.Items ?? []).flatMap(({ pk }) => pk?.S ?? []),
        examined: reply.ScannedCount ?? 0,
        ...(last !== undefined && { cursor: cursorOf(last) }),
      };
    },

    async addListing({ key, version }, listing) {
      const { expression, names, values } = settingAll(listingAttributes(listing));
      try {
        await call("UpdateItem", {
          TableName: tableName,
          Key: { pk: { S: key } },
          UpdateExpression: expression,
          ConditionExpression: `#version = :version AND attribute_not_exists(${LIST_SORT})`,
          ExpressionAttributeNames: { ...names, "#version": "version" },
          ExpressionAttributeValues: { ...values, ":version": { N: String(version) } },
        });
        return "added";
      } catch (error) {
        if (isFailedCondition(error)) return "conflict";
        throw error;
      }
    },
  };
};
