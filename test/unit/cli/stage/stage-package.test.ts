import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { packageStage } from "../../../../lib/cli/stage/stage-package.ts";

/*
 * Refusals that need no bundles. test/unit/infra/package/cli-packager.ts compares whole packages with osls.
 */

let root: string;
let folder: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "skyhook-root-"));
  folder = join(root, "team");
  await mkdir(folder);
  await writeFile(
    join(root, "serverless.yml"),
    'params: { default: { accountsFile: "", reactionsFile: "", monitoring: "yes" }, prod: { extra: 1 } }\n',
  );
});
afterEach(() => rm(root, { recursive: true }));

const build = () => mkdir(join(root, "dist", "functions"), { recursive: true });
const refusalOf = (params: Readonly<Record<string, string>> = {}, stage = "prod") =>
  packageStage({ stage, param: params }, { root, folder, environment: {} }).catch(
    (error: unknown) => error,
  );

describe("a packaging is refused", () => {
  test("without built functions, with the command that builds them", async () => {
    expect(await refusalOf()).toMatchObject({
      exitCode: 2,
      message: `${join("dist", "functions")}: not built; in a clone of the repository run npm run build`,
    });
  });

  test("with a parameter that no stage has, naming those of this stage", async () => {
    await build();

    expect(await refusalOf({ monitring: "no", running: "no" })).toMatchObject({
      exitCode: 2,
      message: [
        "--param: unknown parameter monitring",
        "--param: unknown parameter running",
        "The parameters are accountsFile, reactionsFile, monitoring, extra.",
      ].join("\n"),
    });
  });

  test("with a variable in a value of the command line, which could run a module", async () => {
    await build();
    const extra = `$${"{file(../evil.cjs)}"}`;

    expect(await refusalOf({ extra })).toMatchObject({
      exitCode: 2,
      message: "--param: extra: must not contain a variable, which begins with $\u007b",
    });
  });

  test("without an accounts file, with the command that writes one", async () => {
    await build();

    expect(await refusalOf()).toMatchObject({
      exitCode: 2,
      message:
        "no accounts.prod.yaml or accounts.yaml in this folder; npx skyhook init writes one to edit",
    });
  });

  test("without a reactions file, if the stage has its own accounts file", async () => {
    await build();
    await writeFile(join(folder, "accounts.prod.yaml"), "");

    expect(await refusalOf()).toMatchObject({
      message: expect.stringMatching(/^no reactions\.prod\.yaml or reactions\.yaml /),
    });
  });
});
