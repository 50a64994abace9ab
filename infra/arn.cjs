exports.arnOf = (logicalId) => ({ "Fn::GetAtt": [logicalId, "Arn"] });

/** @param path the name of the rule, behind that of its bus and a slash where that is not the default */
exports.ruleArn = (path) => ({
  "Fn::Sub": `arn:\${AWS::Partition}:events:\${AWS::Region}:\${AWS::AccountId}:rule/${path}`,
});
