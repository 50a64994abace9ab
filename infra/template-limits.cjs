const { end } = require("./configured.cjs");

/**
 * Limits of AWS that the files of a stage can exceed. CloudFormation reports them in the middle of a deployment;
 * this plugin checks the template before it, and says what to change.
 */

const MAX_RESOURCES = 500;
/** Characters of all inline policies of a role together, without white space. */
const MAX_ROLE_POLICY = 10_240;
const MAX_BUS_POLICY = 10_240;
const MAX_RULES_PER_BUS = 300;
const MAX_PATTERN = 2_048;
const MAX_ALARMS_PER_WIDGET = 100;
const MAX_ALARM_DESCRIPTION = 1_024;

/** As long as the longest name that AWS generates for a resource without a name. */
const GENERATED_NAME = "x".repeat(64);

/** The part of an ARN after `arn:PARTITION:`, by resource type. */
const ARN_PATHS = {
  "AWS::DynamoDB::Table": (at, { TableName }) => `dynamodb:${at}:table/${TableName}`,
  "AWS::SQS::Queue": (at, { QueueName }) => `sqs:${at}:${QueueName}`,
  "AWS::Events::EventBus": (at, { Name }) => `events:${at}:event-bus/${Name}`,
  "AWS::Lambda::Function": (at, { FunctionName }) => `lambda:${at}:function:${FunctionName}`,
  "AWS::Logs::LogGroup": (at, { LogGroupName }) => `logs:${at}:log-group:${LogGroupName}:*`,
  "AWS::S3::Bucket": () => `s3:::${GENERATED_NAME}`,
  "AWS::IAM::Role": () => `iam::000000000000:role/${GENERATED_NAME}`,
};
const anyPath = (at) => `cloudformation:${at}:${GENERATED_NAME}`;

const partitionOf = (region) => {
  if (region.startsWith("cn-")) return "aws-cn";
  return region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
};

/** Replaces intrinsic functions by values that are at least as long as those of CloudFormation. */
const resolverOf = ({ Resources }, region) => {
  const pseudo = {
    "AWS::Partition": partitionOf(region),
    "AWS::Region": region,
    "AWS::AccountId": "000000000000",
  };
  const arnOf = (id) => {
    const { Type, Properties } = Resources[id];
    const path = ARN_PATHS[Type] ?? anyPath;
    return `arn:${pseudo["AWS::Partition"]}:${path(`${region}:000000000000`, Properties)}`;
  };
  const nameOf = (id) => pseudo[id] ?? GENERATED_NAME;
  const filled = (text, variables) =>
    text.replaceAll(/\$\{([^}]+)\}/g, (_all, name) => {
      if (variables[name] !== undefined) return resolved(variables[name]);
      return name.endsWith(".Arn") ? arnOf(name.slice(0, -".Arn".length)) : nameOf(name);
    });
  const resolved = (value) => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(resolved);
    if (value.Ref) return nameOf(value.Ref);
    if (value["Fn::GetAtt"]) return arnOf(value["Fn::GetAtt"][0]);
    if (value["Fn::Sub"]) {
      const [text, variables = {}] = [value["Fn::Sub"]].flat();
      return filled(text, variables);
    }
    if (value["Fn::Join"]) return resolved(value["Fn::Join"][1]).join(value["Fn::Join"][0]);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolved(each)]));
  };
  return resolved;
};

const lengthOf = (value) => (typeof value === "string" ? value : JSON.stringify(value)).length;

const over = (what, count, limit, advice) =>
  count > limit ? [`${what}: ${count}, but AWS allows ${limit}; ${advice}`] : [];

const rolePolicyProblems = (ofType, resolved) =>
  ofType("AWS::IAM::Role").flatMap(([id, { Policies = [] }]) =>
    over(
      `characters in the policy of ${id}`,
      Policies.reduce((sum, each) => sum + lengthOf(resolved(each.PolicyDocument)), 0),
      MAX_ROLE_POLICY,
      "rename the SSM parameters of the API keys to /skyhook/STAGE/…, which one grant covers",
    ),
  );

const busPolicyProblems = (ofType, resolved) => {
  const statements = ofType("AWS::Events::EventBusPolicy").map(
    ([, { StatementId, Statement }]) => ({ Sid: StatementId, ...resolved(Statement) }),
  );
  return over(
    "characters in the policy of the bus",
    lengthOf({ Version: "2012-10-17", Statement: statements }),
    MAX_BUS_POLICY,
    "list fewer aws_accounts in the accounts file, or set organization instead",
  );
};

const ruleProblems = (ofType, resolved) => {
  const rules = ofType("AWS::Events::Rule").map(([, properties]) => properties);
  const ours = rules.filter(({ EventBusName }) => EventBusName).length;
  const advice = "merge reactions with longer lists under `when`, or move some to a second stage";
  return [
    ...over("rules on the bus of the stage", ours, MAX_RULES_PER_BUS, advice),
    ...over("rules on the default bus", rules.length - ours, MAX_RULES_PER_BUS, advice),
    ...rules.flatMap(({ Name, Description, EventPattern }) =>
      over(
        `characters in the event pattern of ${Description ?? Name}`,
        lengthOf(resolved(EventPattern)),
        MAX_PATTERN,
        "shorten the lists under `when`, or split the reaction in two",
      ),
    ),
  ];
};

const alarmProblems = (ofType) =>
  ofType("AWS::CloudWatch::Alarm").flatMap(([, { AlarmName, AlarmDescription }]) =>
    over(
      `characters in the description of the alarm ${AlarmName}`,
      lengthOf(AlarmDescription),
      MAX_ALARM_DESCRIPTION,
      "shorten docsUrl, or the name of the SSM parameter in it",
    ),
  );

const widgetProblems = (ofType) =>
  ofType("AWS::CloudWatch::Dashboard").flatMap(([, { DashboardBody }]) =>
    JSON.parse(DashboardBody["Fn::Sub"]).widgets.flatMap(({ properties }) =>
      over(
        `alarms in the dashboard widget "${properties.title}"`,
        properties.alarms?.length ?? 0,
        MAX_ALARMS_PER_WIDGET,
        "distribute them over more widgets in infra/dashboard.cjs",
      ),
    ),
  );

/**
 * One line for each limit of AWS that a template exceeds. Pure.
 * @param template as osls compiles it
 * @param region of the stage; its name is a part of every ARN
 */
const limitProblems = (template, region) => {
  const resources = Object.entries(template.Resources);
  const ofType = (type) =>
    resources
      .filter(([, { Type }]) => Type === type)
      .map(([id, { Properties }]) => [id, Properties]);
  const resolved = resolverOf(template, region);
  return [
    ...over(
      "resources in the template",
      resources.length,
      MAX_RESOURCES,
      "each account needs two alarms, each reaction a rule, each bus of aws_accounts a rule and a role: move some to a second stage",
    ),
    ...rolePolicyProblems(ofType, resolved),
    ...busPolicyProblems(ofType, resolved),
    ...ruleProblems(ofType, resolved),
    ...alarmProblems(ofType),
    ...widgetProblems(ofType),
  ];
};

/** An osls plugin that fails the packaging of a template which AWS would refuse in the middle of a deployment. */
class LimitsPlugin {
  constructor(serverless) {
    this.hooks = {
      "after:aws:package:finalize:mergeCustomProviderResources": () => {
        const template = serverless.service.provider.compiledCloudFormationTemplate;
        const problems = limitProblems(template, serverless.getProvider("aws").getRegion());
        if (problems.length > 0) end(problems);
      },
    };
  }
}

module.exports = LimitsPlugin;
Object.assign(module.exports, { limitProblems, MAX_ALARMS_PER_WIDGET });
