import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import type { PackagedService, Stage, Template } from "../packaged-service.ts";

/** @param parameter name of the SSM parameter of an account's API key */
const accountsFile = (count: number, parameter: (index: number) => string, more = ""): string =>
  `accounts:\n${Array.from(
    { length: count },
    (_, index) =>
      `  - { name: a${index}, base_url: https://api.example.com, api_key: { parameter: ${parameter(index)} }, senders: [own] }\n`,
  ).join("")}${more}`;

const stageOf = (accounts: string, reactions = "reactions: []"): Stage => ({
  name: "prod",
  files: { "accounts.yaml": accounts, "reactions.yaml": reactions },
  params: { accountsFile: "accounts.yaml", reactionsFile: "reactions.yaml" },
});

const ownParameter = (index: number): string => `/skyhook/prod/accounts/${index}/api-key`;

const reaction = (name: string, type: string): string =>
  `  - { name: ${name}, when: { source: [billing], detail-type: [${type}] }, account: a0, then: { operation: update-policy, params: { project_id: 1, region_id: 2, policy_id: 3 }, body: { status: paused } } }\n`;

const bodySchema = z.object({ DashboardBody: z.object({ "Fn::Sub": z.string() }) });
const widgetsSchema = z.object({
  widgets: z.array(
    z.object({
      type: z.string(),
      y: z.number(),
      properties: z.object({ alarms: z.array(z.string()).optional() }),
    }),
  ),
});

/** Limits of AWS that would fail a deployment in the middle. */
export const testLimits = (packaged: () => PackagedService): void => {
  describe("a stage with 120 accounts", () => {
    let template: Template;
    beforeAll(async () => {
      template = await packaged().packageStage(stageOf(accountsFile(120, ownParameter)));
    });

    test("is packaged, because one grant covers the parameters of all API keys", () => {
      const policy = JSON.stringify(template.resources.RunCommandsRole?.Properties.Policies);

      expect(policy).toContain("parameter/skyhook/prod/*");
      expect(policy).not.toContain("accounts/119");
    });

    test("shows its alarms in widgets of at most 100, and the graphs below them", () => {
      const { DashboardBody } = bodySchema.parse(template.resources.Dashboard?.Properties);
      const { widgets } = widgetsSchema.parse(JSON.parse(DashboardBody["Fn::Sub"]));
      const alarms = widgets.filter(({ type }) => type === "alarm");
      const graphs = widgets.filter(({ type }) => type === "metric");
      const ids = Object.entries(template.resources)
        .filter(([, { Type }]) => Type === "AWS::CloudWatch::Alarm")
        .map(([id]) => `\${${id}.Arn}`);

      expect(ids.length).toBeGreaterThan(240);
      expect(alarms.flatMap(({ properties }) => properties.alarms)).toEqual(ids);
      expect(alarms.map(({ properties }) => properties.alarms?.length)).toEqual([
        100,
        100,
        ids.length - 200,
      ]);
      expect(alarms.map(({ y }) => y)).toEqual([0, 6, 12]);
      expect(Math.min(...graphs.map(({ y }) => y))).toBe(18);
    });
  });

  describe("a stage that exceeds every limit of AWS is refused, with each limit and a remedy", () => {
    let lines: readonly string[] = [];
    beforeAll(async () => {
      const awsAccounts = Array.from(
        { length: 300 },
        (_, index) => `  - id: "${100_000_000_000 + index}"\n`,
      );
      const accounts = accountsFile(
        220,
        (index) => `/keys/of/a/provider/${index === 0 ? "long/".repeat(180) : ""}${index}`,
        `aws_accounts:\n${awsAccounts.join("")}`,
      );
      const types = Array.from({ length: 200 }, (_, index) => `InvoicePaid${index}`).join(", ");
      const rules = Array.from({ length: 300 }, (_, index) => reaction(`r${index}`, "Paid"));
      const reactions = `reactions:\n${rules.join("")}${reaction("long", types)}`;
      const { stdout, stderr } = await packaged().refusalOf(stageOf(accounts, reactions));
      expect(stdout).toBe("");
      lines = stderr.trimEnd().split("\n");
    });

    test.each([
      [
        "resources",
        /^resources in the template: \d{3}, but AWS allows 500; each account needs two alarms, .*: move some to a second stage$/,
      ],
      [
        "a role's policy, if API keys have parameters outside of the stage's path",
        /^characters in the policy of RunCommandsRole: \d{5}, but AWS allows 10240; rename the SSM parameters of the API keys to \/skyhook\/STAGE\/…, which one grant covers$/,
      ],
      [
        "the bus's policy",
        /^characters in the policy of the bus: 1\d{4}, but AWS allows 10240; list fewer aws_accounts in the accounts file, or set organization instead$/,
      ],
      [
        "the rules of a bus",
        /^rules on the bus of the stage: 30\d, but AWS allows 300; merge reactions with longer lists under `when`, or move some to a second stage$/,
      ],
      [
        "an event pattern",
        /^characters in the event pattern of The reaction long: 3\d{3}, but AWS allows 2048; shorten the lists under `when`, or split the reaction in two$/,
      ],
      [
        "the description of an alarm",
        /^characters in the description of the alarm skyhook-prod-key-refused-a0: 1\d{3}, but AWS allows 1024; shorten docsUrl, or the name of the SSM parameter in it$/,
      ],
    ])("%s", (_limit, line) => {
      expect(lines).toEqual(expect.arrayContaining([expect.stringMatching(line)]));
    });

    test("with one line for each, after the lines of osls", () => {
      const [, packaging, ...problems] = lines;

      expect(packaging).toMatch(/^Packaging skyhook for stage prod/);
      expect(problems.map((line) => line.replace(/:.*/, ""))).toEqual([
        "resources in the template",
        "characters in the policy of RunCommandsRole",
        "characters in the policy of PollTasksRole",
        "characters in the policy of the bus",
        "rules on the bus of the stage",
        "characters in the event pattern of The reaction long",
        "characters in the description of the alarm skyhook-prod-key-refused-a0",
        "characters in the description of the alarm skyhook-prod-key-unreadable-a0",
      ]);
    });
  });
};
