const { createHash } = require("node:crypto");

/** `skyhook-<stage>`. osls replaces the two variables when it reads the objects of this folder. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: variables of osls
const STAGE = "${self:service}-${sls:stage}";
/** Service and stage: the name of the schedule group, and the dimension `service` of all metrics. */
exports.STAGE = STAGE;

/** The name of a resource: `skyhook-<stage>-<thing>`. */
exports.nameOf = (thing) => `${STAGE}-${thing}`;

const hashOf = (text) => createHash("sha256").update(text).digest("hex").slice(0, 8);
exports.hashOf = hashOf;

/**
 * The logical id of a resource with a name from a config file. Logical ids have letters and digits only, so a hash
 * keeps names such as `a-b` and `ab` apart. The id depends on the name alone: CloudFormation does not replace
 * the resource when another one is removed.
 */
exports.logicalIdOf = (kind, name) =>
  `${kind}${name.replaceAll(/[^A-Za-z0-9]/g, "")}${hashOf(name)}`;

exports.arnOf = (logicalId) => ({ "Fn::GetAtt": [logicalId, "Arn"] });

/** @param path `RULE` on the default bus, otherwise `BUS/RULE` */
exports.ruleArn = (path) => ({
  "Fn::Sub": `arn:\${AWS::Partition}:events:\${AWS::Region}:\${AWS::AccountId}:rule/${path}`,
});
