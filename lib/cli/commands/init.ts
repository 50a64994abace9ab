import { writeFileSync } from "node:fs";
import { packageFolder } from "../../platform/package-folder.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { printNote, printResult } from "../render.ts";
import { CONFIG_FILES, type ConfigFile, schemaPathFor } from "../schema-files.ts";
import { exampleText, withSchema } from "../stage/example-files.ts";
import { addExamples, type DeclareVerb, ending } from "../verb.ts";

const PURPOSES: Readonly<Record<ConfigFile, string>> = {
  accounts: "accounts at the provider, and rights",
  reactions: "which events become which commands",
  thresholds: "storage notification thresholds to keep",
  watchlist: "prices to record",
};

/** @returns whether the file was written; false if it exists. @throws ExitError if it cannot be written */
const isWritten = (file: string, text: string): boolean => {
  try {
    // Fails for an existing file, also for one that another program writes at the same time.
    writeFileSync(file, text, { flag: "wx" });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    throw new ExitError(EXIT.refused, `${file}: cannot be written (${code})`);
  }
};

const NEXT_STEPS = `Edit the files. Then, with the names of your API key parameters in accounts.yaml:
  npx skyhook package --stage dev     # the template and the zips, offline
  npx skyhook deploy --stage dev      # shows the changes and asks`;

/** For schemas that no folder above this one has. */
const SCHEMAS = `For completion in an editor, write the schema that each file names:
  npx skyhook schema accounts > accounts.schema.json`;

const writeFiles = (): ExitCode => {
  const root = packageFolder();
  const schemas = CONFIG_FILES.map((kind) => ({ kind, ...schemaPathFor(kind, process.cwd()) }));
  for (const { kind, path } of schemas) {
    const file = `${kind}.yaml`;
    const isNew = isWritten(file, withSchema(exampleText(kind, root), path));
    const [verb, why] = isNew ? ["wrote", PURPOSES[kind]] : ["left ", "it exists already"];
    printResult(`${verb}  ${file.padEnd(15)}  ${why}`);
  }
  if (schemas.some(({ isBeside }) => isBeside)) printNote(SCHEMAS);
  printNote(NEXT_STEPS);
  return EXIT.ok;
};

const DESCRIPTION = `Writes the files of a stage into this folder, with comments: accounts.yaml, reactions.yaml, thresholds.yaml and watchlist.yaml. It leaves a file that exists as it is.`;

export const declareInit: DeclareVerb = (command) => {
  addExamples(command.description(DESCRIPTION), ["npx skyhook init"]).action(ending(writeFiles));
};
