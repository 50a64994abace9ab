/** So that nobody else's schedule or rule can use a role through the service that all share. */
const FOR_US_ONLY = { StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } } };

const role = (trust, policy, statements) => ({
  Type: "AWS::IAM::Role",
  Properties: {
    AssumeRolePolicyDocument: {
      Version: "2012-10-17",
      Statement: [{ Effect: "Allow", Action: "sts:AssumeRole", ...trust }],
    },
    Policies: [
      { PolicyName: policy, PolicyDocument: { Version: "2012-10-17", Statement: statements } },
    ],
  },
});

/**
 * A role that an AWS service takes on for something of ours.
 * @param name what its policy is called
 * @param condition more that has to hold when the service takes it
 */
exports.serviceRole = (service, name, statements, condition = {}) =>
  role(
    { Principal: { Service: service }, Condition: { ...FOR_US_ONLY, ...condition } },
    name,
    statements,
  );

/** The role of a function: only who may pass a role of this AWS account can give it to one. */
exports.functionRole = (...statements) =>
  role({ Principal: { Service: "lambda.amazonaws.com" } }, "function", statements);
