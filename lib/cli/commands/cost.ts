import * as z from "zod";
import { type Bill, monthlyBill } from "../../cost/monthly-bill.ts";
import { dollarsOf, PRICES, UNITS } from "../../cost/prices.ts";
import { readSettings, wholeNumber } from "../../platform/lambda/settings.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { jsonLine, printNote, printResult, tableText } from "../render.ts";
import { addExamples, type DeclareVerb, ending } from "../verb.ts";

const MAX_COMMANDS = 1_000_000_000;
/** The longest deadline of a command. */
const MAX_TASK_SECONDS = 7 * 24 * 3_600;

const settingsSchema = z.object({
  "--commands": wholeNumber(0, MAX_COMMANDS),
  "--task-seconds": wholeNumber(0, MAX_TASK_SECONDS),
});

interface CostFlags {
  readonly commands: string;
  readonly taskSeconds: string;
  readonly json?: true;
}

const grouped = (value: number, digits = 0): string =>
  value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

const money = (dollars: number): string => `$${grouped(dollars, 2)}`;

const partsOf = ({ commands, following, idle }: Bill) => [commands, following, idle] as const;

/** Dollars of a bill, to the cent. */
const dollarsOfBill = (bill: Bill) => {
  const [commands, following, idle] = partsOf(bill).map((part) =>
    Number(dollarsOf(part).toFixed(2)),
  ) as [number, number, number];
  return { commands, following, idle, total: Number((commands + following + idle).toFixed(2)) };
};

/** A row for each unit that occurs, then the dollars. */
const billTable = (bill: Bill): readonly (readonly string[])[] => {
  const parts = partsOf(bill);
  const rows = UNITS.flatMap((unit) => {
    const amounts = parts.map((part) => part[unit]);
    const total = amounts.reduce((sum, amount) => sum + amount, 0);
    const { text, perMillion } = PRICES[unit];
    const cells = [...amounts.map((amount) => grouped(amount)), money((total * perMillion) / 1e6)];
    return total === 0 ? [] : [[text, ...cells]];
  });
  return [...rows, ["dollars", ...Object.values(dollarsOfBill(bill)).map(money)]];
};

const NOT_COUNTED =
  "Left out: scheduled jobs, alarms, dashboard and custom metrics (about $10 a month), storage and backups of the ledger, log lines, traffic, free tiers and taxes. List prices of us-east-1, November 2026.";

const printCost = (flags: CostFlags): ExitCode => {
  const { "--commands": commands, "--task-seconds": taskSeconds } = readSettings(settingsSchema, {
    "--commands": flags.commands,
    "--task-seconds": flags.taskSeconds,
  });
  const bill = monthlyBill({ commands, taskSeconds });
  if (flags.json) {
    const { openTasks, ...units } = bill;
    const dollars = dollarsOfBill(bill);
    printResult(jsonLine({ commands, taskSeconds, openTasks, dollars, units }));
    return EXIT.ok;
  }
  const what =
    taskSeconds === 0
      ? "that answer at once"
      : `with a task of ${grouped(taskSeconds)} s each; ${grouped(bill.openTasks, 1)} tasks are open on average`;
  printResult(
    (columns) =>
      `A month of ${grouped(commands)} commands ${what}\n\n${tableText(
        ["", "commands", "following", "idle stage", "a month"],
        billTable(bill),
        columns,
      )}`,
  );
  printNote(`\n${NOT_COUNTED}`);
  return EXIT.ok;
};

const DESCRIPTION = `Estimates what one stage costs on AWS in a month of 730 hours, from counted units and list prices. It reads nothing.

The commands are distributed evenly over the month, which costs more than tasks that run together: those are followed by the same lists.`;

export const declareCost: DeclareVerb = (command) => {
  addExamples(
    command
      .description(DESCRIPTION)
      .requiredOption("--commands <number>", "required: commands in a month, up to 1,000,000,000")
      .option(
        "--task-seconds <seconds>",
        "duration of each command's task, up to 604800; 0: commands that answer at once",
        "0",
      )
      .option("--json", "print one JSON object"),
    [
      "npx skyhook cost --commands 1000000 --task-seconds 120",
      "npx skyhook cost --commands 50000 --json",
    ],
  ).action(ending(printCost));
};
