import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { packageStage } from "../../../../lib/cli/stage/stage-package.ts";
import type { Template } from "../../../../lib/cli/stage/template.ts";
import {
  FIRST,
  type Template as OslsTemplate,
  type PackagedService,
  type Stage,
} from "../packaged-service.ts";
import { ACCOUNTS, PROD, QUIET } from "./other-stage.ts";

const EXAMPLES = {
  accountsFile: "infra/accounts.example.yaml",
  reactionsFile: "infra/reactions.example.yaml",
};

/** The same texts for the keys of zips, the only difference between the two packagers. */
const withoutKeys = (template: object): unknown =>
  JSON.parse(JSON.stringify(template), (name, value) => (name === "S3Key" ? "a zip" : value));

/** Members of the template of this CLI, in the shape of the reader of osls's. */
const membersOf = ({ Resources, Outputs, Parameters, Conditions }: Template) => ({
  resources: Resources,
  outputs: Outputs,
  parameters: Parameters,
  conditions: Conditions,
});

const membersOfOsls = ({ resources, outputs, parameters, conditions }: OslsTemplate) => ({
  resources,
  outputs,
  parameters,
  conditions,
});

/** `skyhook package`, against osls on the same files. */
export const testCliPackager = (packaged: () => PackagedService): void => {
  const packageWithCli = ({ name = "dev", params = {} }: Stage, bucket?: string) =>
    packageStage(
      { stage: name, param: params, ...(bucket !== undefined && { bucket }) },
      { root: packaged().directory, folder: packaged().directory, environment: {} },
    );

  describe("the packager of the CLI", () => {
    test("compiles the template of osls but for the keys of zips: dev", async () => {
      const { template } = await packageWithCli({ params: EXAMPLES });

      expect(withoutKeys(membersOf(template))).toEqual(withoutKeys(membersOfOsls(packaged())));
    });

    test.each([
      ["another stage, stopped and without AI tasks", PROD],
      ["a stage without alarms and reactions", QUIET],
    ])("compiles the template of osls but for the keys of zips: %s", async (_name, stage) => {
      const expected = await packaged().templateOf(stage);

      const { template } = await packageWithCli(stage);

      expect(withoutKeys(membersOf(template))).toEqual(withoutKeys(membersOfOsls(expected)));
    });

    test("compiles the template of osls for a bucket that exists", async () => {
      const file = join(packaged().directory, "serverless.yml");
      const text = await readFile(file, "utf8");
      const named = text.replace("provider:\n", "provider:\n  deploymentBucket: our-zips\n");
      const stage = { params: EXAMPLES };
      const expected = await packaged()
        .packageStage({ ...stage, files: { "serverless.yml": named } })
        .finally(() => writeFile(file, text));

      const { template } = await packageWithCli(stage, "our-zips");

      expect(expected.resources).not.toHaveProperty("ServerlessDeploymentBucket");
      expect(withoutKeys(membersOf(template))).toEqual(withoutKeys(membersOfOsls(expected)));
    });

    test.each([
      ["its own", ["accounts.prod.yaml", "accounts.yaml"], "accounts.prod.yaml:2: "],
      ["the common one, without one of its own", ["accounts.yaml"], "accounts.yaml:2: "],
    ])("reads as the file of a stage %s, and names every mistake", async (_which, files, start) => {
      const folder = await mkdtemp(join(packaged().directory, "team-"));
      const accounts = "accounts:\n  - { name: main, colour: red }\n";
      for (const file of files) await writeFile(join(folder, file), accounts);
      await writeFile(join(folder, "reactions.yaml"), "reactions: []\n");

      const refusal = await packageStage(
        { stage: "prod", param: {} },
        { root: packaged().directory, folder, environment: {} },
      ).catch((error: unknown) => error);

      expect(refusal).toMatchObject({ exitCode: 2 });
      expect(String(refusal)).toContain(`${start}accounts.0.colour: unknown field`);
    });

    test("reports the limits of AWS that a template exceeds", async () => {
      const folder = await mkdtemp(join(packaged().directory, "team-"));
      await writeFile(join(folder, "accounts.yaml"), ACCOUNTS);
      await writeFile(join(folder, "reactions.yaml"), "reactions: []\n");
      const docsUrl = `https://git.example.com/${"x".repeat(1_000)}`;

      const refusal = await packageStage(
        { stage: "prod", param: { docsUrl } },
        { root: packaged().directory, folder, environment: {} },
      ).catch((error: unknown) => error);

      expect(refusal).toMatchObject({ exitCode: 2 });
      expect(String(refusal)).toContain("but AWS allows 1024; shorten docsUrl");
    });

    test("makes the template of the first deployment like osls: the bucket alone", async () => {
      const file = join(packaged().directory, FIRST, "cloudformation-template-create-stack.json");
      const expected = JSON.parse(await readFile(file, "utf8"));

      const { bucketTemplate } = await packageWithCli({ params: EXAMPLES });

      expect(bucketTemplate).toEqual(expected);
    });
  });
};
