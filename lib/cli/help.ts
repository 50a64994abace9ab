import { type Command, Help } from "commander";
import { wrapText } from "./layout.ts";
import { columnsOf } from "./render.ts";
import { textWidth } from "./text-width.ts";

/** A description in a narrower column is hard to read. */
const MIN_COLUMNS = 16;
/** Wider lines of prose are hard to read. */
const MAX_COLUMNS = 100;
const USUAL_COLUMNS = 80;
const INDENT = "  ";
const GAP = 2;

/** Puts a description below its option where there is little room beside it, or one of its words does not fit. */
const formatItem = (term: string, termWidth: number, description: string, help: Help): string => {
  const columns = help.helpWidth ?? USUAL_COLUMNS;
  const room = columns - INDENT.length - termWidth - GAP;
  const words = description.split(/\s/).map((word) => textWidth(word));
  if (Math.max(MIN_COLUMNS, ...words) <= room) {
    return Help.prototype.formatItem.call(help, term, termWidth, description, help);
  }
  const indent = INDENT.repeat(3);
  const lines = help.boxWrap(description, columns - indent.length).split("\n");
  return [INDENT + term, ...lines.map((line) => indent + line)].join("\n");
};

/** Fits the help and the usage errors of a program to the terminal, for all its subcommands too. */
export const fitToTerminal = (program: Command): Command =>
  program
    .configureHelp({
      helpWidth: Math.min(columnsOf(process.stdout) ?? USUAL_COLUMNS, MAX_COLUMNS),
      minWidthToWrap: 1,
      formatItem,
    })
    .showHelpAfterError("--help lists the arguments and options")
    .configureOutput({
      outputError: (text, write) => write(wrapText(text, columnsOf(process.stderr))),
    });
