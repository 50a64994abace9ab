const { nameOf } = require("./name.cjs");

/**
 * Keys and index are those of lib/aws/ledger-table.ts, which local runs create their table from; a
 * test compares the two.
 */
module.exports = {
  LedgerTable: {
    Type: "AWS::DynamoDB::Table",
    Properties: {
      TableName: nameOf("ledger"),
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: "S" },
        { AttributeName: "due", AttributeType: "S" },
        { AttributeName: "dueAt", AttributeType: "N" },
      ],
      KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
      GlobalSecondaryIndexes: [
        {
          IndexName: "due",
          KeySchema: [
            { AttributeName: "due", KeyType: "HASH" },
            { AttributeName: "dueAt", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "KEYS_ONLY" },
        },
      ],
      TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
      // Without the ledger a replayed message would create again. Also what is left for 35 days of
      // a table that was deleted, so removing a stage needs no table that stays behind.
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      // The AWS managed key, whose every use CloudTrail shows; requests hold envs and pull secrets.
      SSESpecification: { SSEEnabled: true },
    },
  },
};
