import { describe, expect, test } from "vitest";
import { packageStage } from "../../../../lib/cli/stage/stage-package.ts";
import { MAX_SHARDS } from "../../../../lib/platform/ports/ledger.ts";
import type { PackagedService } from "../packaged-service.ts";

const ACCOUNTS = `accounts:
  - name: main
    base_url: ftp://api.example.com
    api_key: { environment: KEY }
    senders: [own, 111122223333]
  - name: main
    senders: [own]
    colour: red
`;

const REACTIONS = `reactions:
  - name: paid
    when: { source: [billing] }
    then: { operation: resume-instance }
`;

/** The output of a packaging with invalid files or parameters. */
export const testRefusedFiles = (packaged: () => PackagedService): void => {
  /** What the functions of infra/ refuse, called by the packager of the CLI, which needs no process as osls does. */
  const refusalByCli = (param: Readonly<Record<string, string>>): Promise<string> => {
    const root = packaged().directory;
    const examples = {
      accountsFile: "infra/accounts.example.yaml",
      reactionsFile: "infra/reactions.example.yaml",
    };
    return packageStage(
      { stage: "dev", param: { ...examples, ...param } },
      { root, folder: root, environment: {} },
    ).then(
      () => "no refusal",
      (error: Error) => error.message,
    );
  };

  describe("invalid files and parameters", () => {
    test("fail the packaging with every mistake, its file and line, and no other output", async () => {
      const { stdout, stderr } = await packaged().refusalOf({
        files: { "wrong-accounts.yaml": ACCOUNTS, "wrong-reactions.yaml": REACTIONS },
        params: { accountsFile: "wrong-accounts.yaml", reactionsFile: "wrong-reactions.yaml" },
      });

      expect(stdout).toBe("");
      expect(stderr.trimEnd().split("\n")).toEqual([
        "wrong-accounts.yaml:3: accounts.0.base_url: must be an http or https URL",
        "wrong-accounts.yaml:4: accounts.0.api_key.environment: allowed in local runs only; a deployment reads its keys from SSM, so use parameter",
        "wrong-accounts.yaml:5: accounts.0.senders.1: must be own, an AWS account id in quotes, or an object with `sender`",
        "wrong-accounts.yaml:6: accounts.1.name: duplicate of accounts.0.name",
        "wrong-accounts.yaml:6: accounts.1.base_url: required",
        "wrong-accounts.yaml:6: accounts.1.api_key: required",
        "wrong-accounts.yaml:8: accounts.1.colour: unknown field",
        "wrong-reactions.yaml:4: reactions.0.then.params.project_id: required",
        "wrong-reactions.yaml:4: reactions.0.then.params.region_id: required",
        "wrong-reactions.yaml:4: reactions.0.then.params.instance_id: required",
      ]);
    });

    test("are named if they do not exist", async () => {
      const { stdout, stderr } = await packaged().refusalOf({
        params: { accountsFile: "none.yaml", reactionsFile: "none-either.yaml" },
      });

      expect(stdout).toBe("");
      expect(stderr.trimEnd().split("\n")).toEqual([
        "none.yaml: file not found; create it, with infra/accounts.example.yaml as a model",
        "none-either.yaml: file not found; create it, with infra/reactions.example.yaml as a model",
      ]);
    });

    test("are missing for every stage but dev, with one line for each file to write", async () => {
      const { stdout, stderr } = await packaged().refusalOf({ name: "prod" });

      expect(stdout).toBe("");
      expect(stderr.trimEnd().split("\n")).toEqual([
        "infra/accounts.prod.yaml: file not found; create it, with infra/accounts.example.yaml as a model",
        "infra/reactions.prod.yaml: file not found; create it, with infra/reactions.example.yaml as a model",
      ]);
    });

    test("are refused if a stage other than dev uses the examples", async () => {
      const { stderr } = await packaged().refusalOf({
        name: "prod",
        params: {
          accountsFile: "infra/accounts.example.yaml",
          reactionsFile: "infra/reactions.example.yaml",
        },
      });

      expect(stderr.trimEnd().split("\n")).toEqual([
        "infra/accounts.example.yaml: only the stage dev may use the example; write infra/accounts.prod.yaml",
        "infra/reactions.example.yaml: only the stage dev may use the example; write infra/reactions.prod.yaml",
      ]);
    });

    test("are refused with a number that is out of range, in one line with the value", async () => {
      const { stdout, stderr } = await packaged().refusalOf({ params: { dueShards: "17" } });

      expect(stdout).toBe("");
      expect(stderr).toBe('dueShards: must be a whole number from 1 to 16, is "17"\n');
    });

    test.each([
      ["dueShards", "0", 1, MAX_SHARDS],
      ["dueShards", "17", 1, MAX_SHARDS],
      ["dueShards", "2.5", 1, MAX_SHARDS],
      ["intakeMaximumConcurrency", "1", 2, 1000],
      ["intakeMaximumConcurrency", "1001", 2, 1000],
      ["runCommandsMaximumConcurrency", "ten", 2, 1000],
      ["runCommandsMemory", "255", 256, 3008],
      ["pollTasksMemory", "3009", 256, 3008],
    ])("are refused with %s %j", async (name, value, least, most) => {
      expect(await refusalByCli({ [name]: value })).toBe(
        `${name}: must be a whole number from ${least} to ${most}, is "${value}"`,
      );
    });

    test("are refused with the former intakeConcurrency, in one line that names the new parameter", async () => {
      const { stdout, stderr } = await packaged().refusalOf({
        params: { intakeConcurrency: "none" },
      });

      expect(stdout).toBe("");
      expect(stderr).toBe(
        "intakeConcurrency: no longer supported; set intakeMaximumConcurrency (2 to 1000) instead, which reserves no concurrency\n",
      );
    });

    test("are refused with a docsUrl that ends in a slash, in one line", async () => {
      expect(await refusalByCli({ docsUrl: "docs/" })).toBe(
        'docsUrl: must be a path or a URL without a slash at its end, such as https://git.example.com/skyhook/docs; is "docs/"',
      );
    });

    test.each(["true", "No"])("are refused with a kill switch that is %s", async (running) => {
      expect(await refusalByCli({ running })).toBe(
        `running: must be yes or no (in YAML "yes" or "no"); is ${running}`,
      );
    });

    test("are refused with a job account that the accounts file does not have", async () => {
      expect(await refusalByCli({ jobAccount: "other" })).toBe(
        "jobAccount: must be an account of infra/accounts.example.yaml, one of main",
      );
    });
  });
};
