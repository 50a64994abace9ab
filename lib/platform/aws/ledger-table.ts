import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";

export const DUE_INDEX = "due";

/**
 * The one value of the due index's partition key. All outstanding items share a partition on
 * purpose: a poller run with nothing to do is one query. A partition takes 1000 writes a second,
 * far above the rate limit of any API that we follow.
 */
export const DUE_PARTITION = "due";

/** Holds epoch seconds, as DynamoDB's time to live demands. */
export const EXPIRY_ATTRIBUTE = "expiresAt";

/** What the ledger needs of its table, all but its name. Time to live is switched on separately. */
export const LEDGER_TABLE: Omit<CreateTableCommandInput, "TableName"> = {
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: [
    { AttributeName: "pk", AttributeType: "S" },
    { AttributeName: "due", AttributeType: "S" },
    { AttributeName: "dueAt", AttributeType: "N" },
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
  ],
};
