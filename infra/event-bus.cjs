const { nameOf } = require("./name.cjs");

module.exports = {
  /** Without a policy: only our own AWS account puts events and makes rules here. */
  EventBus: {
    Type: "AWS::Events::EventBus",
    Properties: { Name: nameOf("events") },
  },
};
