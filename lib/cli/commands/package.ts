import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { printNote, printResult, shellWord } from "../render.ts";
import { addStageOptions, type StageFlags } from "../stage/stage-options.ts";
import { addExamples, type DeclareVerb, ending } from "../verb.ts";

interface PackageFlags extends StageFlags {
  readonly out: string;
}

const TEMPLATE = "template.json";

const writePackage = async (flags: PackageFlags): Promise<ExitCode> => {
  const { packageHere } = await import("../stage/stage-package.ts");
  const { template, zips, files, stackName, region, keyParameters } = await packageHere(flags);
  const texts = new Map<string, string | Uint8Array>([
    [TEMPLATE, `${JSON.stringify(template, undefined, 2)}\n`],
    ...zips.map(({ key, bytes }) => [key, bytes] as const),
  ]);
  for (const [name, content] of texts) {
    const file = join(flags.out, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    printResult(`${shellWord(file)}  ${Math.ceil(content.length / 1000)} kB`);
  }
  printNote(
    [
      `packaged ${files.map(shellWord).join(" and ")} for the stack ${stackName} in ${region}: ${Object.keys(template.Resources).length} resources`,
      `SSM parameters that must exist there before a deployment: ${keyParameters.join(", ")}`,
    ].join("\n"),
  );
  return EXIT.ok;
};

const DESCRIPTION = `Writes the CloudFormation template of a stage and the zips of its functions, offline and without credentials. The path of a zip is its key in the bucket. It reads accounts.STAGE.yaml and reactions.STAGE.yaml in this folder, or accounts.yaml and reactions.yaml where the stage has none of its own, and reports every mistake in them.

The stage parameters are in docs/operate/deploy.md.`;

export const declarePackage: DeclareVerb = (command) => {
  addExamples(
    addStageOptions(command.description(DESCRIPTION)).option(
      "--out <dir>",
      "folder for the files",
      ".skyhook",
    ),
    [
      "npx skyhook package --stage dev",
      "npx skyhook package --stage prod --region eu-central-1 --param monitoring=no",
    ],
  ).action(ending(writePackage));
};
