const { nameOf } = require("./names.cjs");

/** The ledger. Keys and index equal those of lib/platform/aws/dynamodb-ledger.ts; a test compares both. */
module.exports = {
  LedgerTable: {
    Type: "AWS::DynamoDB::Table",
    // On every stage, so that a mistake with a stack or a key schema cannot delete the history of commands.
    // docs/operate/remove-a-stage.md explains how to delete the table, or to adopt it again.
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
        { AttributeName: "listPartition", AttributeType: "S" },
        { AttributeName: "listSort", AttributeType: "S" },
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
        {
          IndexName: "list",
          KeySchema: [
            { AttributeName: "listPartition", KeyType: "HASH" },
            { AttributeName: "listSort", KeyType: "RANGE" },
          ],
          Projection: {
            ProjectionType: "INCLUDE",
            NonKeyAttributes: ["account", "operation", "sender", "resource"],
          },
        },
      ],
      TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
      // Without the ledger a repeated message would create a resource again: docs/operate/restore-the-ledger.md.
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      // The AWS managed key; CloudTrail records its use. Stored requests hold envs and pull secrets.
      SSESpecification: { SSEEnabled: true },
    },
  },
};
