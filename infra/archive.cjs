const { archiveRetentionDays } = require("../lib/platform/deployment.json");
const { arnOf } = require("./arn.cjs");
const { nameOf } = require("./name.cjs");

/**
 * What went out, to be replayed for a subscriber that lost it. Never what came in: a replay would ask
 * for everything again.
 */
module.exports = {
  OutgoingArchive: {
    Type: "AWS::Events::Archive",
    Properties: {
      ArchiveName: nameOf("outgoing"),
      Description: "Events that Skyhook has published",
      SourceArn: arnOf("EventBus"),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of osls
      EventPattern: { source: ["${param:eventSource}"], account: [{ Ref: "AWS::AccountId" }] },
      RetentionDays: archiveRetentionDays,
    },
  },
};
