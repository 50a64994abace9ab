const { end } = require("./configured.cjs");
const { limitProblems } = require("./template-limits.cjs");

/** A plugin of osls: ends the packaging of a template that AWS would refuse halfway through a deployment. */
module.exports = class LimitsPlugin {
  constructor(serverless) {
    this.hooks = {
      "after:aws:package:finalize:mergeCustomProviderResources": () => {
        const template = serverless.service.provider.compiledCloudFormationTemplate;
        const problems = limitProblems(template, serverless.getProvider("aws").getRegion());
        if (problems.length > 0) end(problems);
      },
    };
  }
};
