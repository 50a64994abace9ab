import { describe, expect, test } from "vitest";
import { createVariables, type VariableSources } from "../../../../lib/cli/stage/variables.ts";

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: variables of osls
const SERVICE = {
  service: "skyhook",
  custom: { sizes: "${file(sizes.json)}" },
  functions: { intake: { timeout: "${self:custom.sizes.intake.timeout}" } },
};

const FILES: Readonly<Record<string, unknown>> = {
  "sizes.json": { intake: { timeout: 30 } },
  "infra/names.cjs": {
    bus: { Name: "${self:service}-${sls:stage}-events" },
    hosted: ({ note }: { readonly note: string }) => ({ note }),
    first: async ({ resolveVariable }: { resolveVariable(address: string): Promise<unknown> }) =>
      resolveVariable("param:old, null"),
  },
};

const variables = (sources: Partial<VariableSources> = {}) =>
  createVariables({
    service: SERVICE,
    stage: "prod",
    options: { region: undefined },
    environment: { AWS_REGION: "eu-central-1" },
    params: { count: 10, file: "infra/accounts.${sls:stage}.yaml", empty: "" },
    load: (path) => FILES[path],
    host: { note: "of the host" },
    ...sources,
  });

describe("a text with variables", () => {
  test.each<[string, string, unknown]>([
    ["takes the type of its only variable", "${param:count}", 10],
    ["joins several variables", "${self:service}-${sls:stage}-x", "skyhook-prod-x"],
    ["resolves the variables of a value", "${param:file}", "infra/accounts.prod.yaml"],
    ["keeps an empty value", "${param:empty, 'other'}", ""],
    ["takes the first source that has a value", "${opt:region, env:AWS_REGION}", "eu-central-1"],
    ["takes a literal at the end", "${opt:region, env:NONE, 'us-east-1'}", "us-east-1"],
    ["reads a member of a file through a variable", "${self:functions.intake.timeout}", 30],
    ["reads a member of a module", "${file(infra/names.cjs):bus.Name}", "skyhook-prod-events"],
    ["gives a function its host", "${file(infra/names.cjs):hosted}", { note: "of the host" }],
    ["gives a function the resolver", "${file(infra/names.cjs):first}", null],
    [
      "leaves CloudFormation's alone",
      "${AWS::Region}/${Bucket.Arn}",
      "${AWS::Region}/${Bucket.Arn}",
    ],
  ])("%s", async (_rule, text, value) => {
    expect(await variables().resolved({ of: [text] })).toEqual({ of: [value] });
  });

  test.each(["${param:missing}", "${opt:region}", "${self:custom.none}"])(
    "without a value is an error that names it: %s",
    async (text) => {
      await expect(variables().resolved(text)).rejects.toThrow(
        `serverless.yml: the variable ${text.slice(2, -1)} has no value`,
      );
    },
  );

  test("of an unknown member of osls is an error that names it", async () => {
    await expect(variables().resolved("${sls:instanceId}")).rejects.toThrow(
      "serverless.yml: unknown variable sls:instanceId",
    );
  });
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above
