const { nameOf } = require("./names.cjs");

/**
 * Keys and index are those of lib/platform/aws/dynamodb-ledger.ts, which local runs create their table from; a
 * test compares the two.
 */
module.exports = {
  LedgerTable: {
    Type: "AWS::DynamoDB::Table",
    // On every stage: no slip with a stack or a key schema takes what commands have done along.
    // README, "Remove a stage", has how to delete the table, or to adopt it again.
    DeletionPolicy: "Retain",
    UpdateReplacePolicy: "Retain",
    Properties: {
      DeletionProtectionEnabled: true,
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
      // Without the ledger a replayed message would create again. README, "Restore the ledger".
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      // The AWS managed key, whose every use CloudTrail shows; requests hold envs and pull secrets.
      SSESpecification: { SSEEnabled: true },
    },
  },
};
