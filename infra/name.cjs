/**
 * The name of everything that has one: `skyhook-<stage>-<thing>`. osls fills in the two variables
 * when it reads the objects of this folder.
 */
exports.nameOf = (thing) => `\${self:service}-\${sls:stage}-${thing}`;
