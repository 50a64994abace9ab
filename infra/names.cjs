const { createHash } = require("node:crypto");

/** `skyhook-<stage>`: osls fills in the two variables when it reads the objects of this folder. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: variables of osls
const STAGE = "${self:service}-${sls:stage}";
/** The stage's name: of its schedule group, and in a dimension of its metrics. */
exports.STAGE = STAGE;

/** The name of everything that has one: `skyhook-<stage>-<thing>`. */
exports.nameOf = (thing) => `${STAGE}-${thing}`;

const hashOf = (text) => createHash("sha256").update(text).digest("hex").slice(0, 8);
exports.hashOf = hashOf;

/**
 * The logical id of something that people have named. It has letters and digits only, in which two
 * names may be equal; and comes from the name alone, so that nothing is made anew when others go.
 */
exports.logicalIdOf = (kind, name) =>
  `${kind}${name.replaceAll(/[^A-Za-z0-9]/g, "")}${hashOf(name)}`;

exports.arnOf = (logicalId) => ({ "Fn::GetAtt": [logicalId, "Arn"] });

/** @param path the name of the rule, behind that of its bus and a slash where that is not the default */
exports.ruleArn = (path) => ({
  "Fn::Sub": `arn:\${AWS::Partition}:events:\${AWS::Region}:\${AWS::AccountId}:rule/${path}`,
});
