import { writeFileSync } from "node:fs";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { printNote, printResult } from "../render.ts";
import { initialText, STAGE_FILES, type StageFile } from "../stage/example-files.ts";
import { packageFolder } from "../stage/package-folder.ts";
import { addExamples, type DeclareVerb, ending } from "../verb.ts";

const PURPOSES: Readonly<Record<StageFile, string>> = {
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

const writeFiles = (): ExitCode => {
  const root = packageFolder();
  for (const kind of STAGE_FILES) {
    const file = `${kind}.yaml`;
    const verb = isWritten(file, initialText(kind, root)) ? "wrote" : "left";
    const why = verb === "wrote" ? PURPOSES[kind] : "it exists already";
    printResult(`${verb.padEnd(5)}  ${file.padEnd(15)}  ${why}`);
  }
  printNote(NEXT_STEPS);
  return EXIT.ok;
};

const DESCRIPTION = `Writes the files of a stage into this folder, with comments: accounts.yaml, reactions.yaml, thresholds.yaml and watchlist.yaml. It leaves a file that exists as it is.`;

export const declareInit: DeclareVerb = (command) => {
  addExamples(command.description(DESCRIPTION), ["npx skyhook init"]).action(ending(writeFiles));
};
