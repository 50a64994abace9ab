const { createHash } = require("node:crypto");

/**
 * The name of everything that has one: `skyhook-<stage>-<thing>`. osls fills in the two variables
 * when it reads the objects of this folder.
 */
exports.nameOf = (thing) => `\${self:service}-\${sls:stage}-${thing}`;

const hashOf = (text) => createHash("sha256").update(text).digest("hex").slice(0, 8);
exports.hashOf = hashOf;

/**
 * The logical id of something that people have named. It has letters and digits only, in which two
 * names may be equal; and comes from the name alone, so that nothing is made anew when others go.
 */
exports.logicalIdOf = (kind, name) =>
  `${kind}${name.replaceAll(/[^A-Za-z0-9]/g, "")}${hashOf(name)}`;
