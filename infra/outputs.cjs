/** What people need to know of a stage; nothing secret. */
module.exports = {
  ConfigBucketName: {
    Description: "Where thresholds.yaml and watchlist.yaml go",
    Value: { Ref: "ConfigBucket" },
  },
};
