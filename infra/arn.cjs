exports.arnOf = (logicalId) => ({ "Fn::GetAtt": [logicalId, "Arn"] });
