/**
 * A role that an AWS service takes on for something of ours.
 * @param name what its policy is called
 */
exports.serviceRole = (service, name, statements) => ({
  Type: "AWS::IAM::Role",
  Properties: {
    AssumeRolePolicyDocument: {
      Version: "2012-10-17",
      Statement: [
        {
          Effect: "Allow",
          Principal: { Service: service },
          Action: "sts:AssumeRole",
          // So that nobody else's schedule or rule can use the role through the shared service.
          Condition: { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } },
        },
      ],
    },
    Policies: [
      { PolicyName: name, PolicyDocument: { Version: "2012-10-17", Statement: statements } },
    ],
  },
});
