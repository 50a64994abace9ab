/** What people need to know of a stage; nothing secret. */
module.exports = {
  EventBusArn: {
    Description: "Where other AWS accounts send events: parameter of infra/other-account.yaml",
    Value: { "Fn::GetAtt": ["EventBus", "Arn"] },
  },
  ConfigBucketName: {
    Description: "Where thresholds.yaml and watchlist.yaml go",
    Value: { Ref: "ConfigBucket" },
  },
};
