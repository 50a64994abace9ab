import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import pLimit from "p-limit";
import { dollarsOf, PRICES, UNITS } from "../../../lib/cost/prices.ts";
import { START_CPU_MS } from "./invocation-meter.ts";
import { CALL_MS } from "./metered-ports.ts";
import { type Result, SCENARIOS } from "./scenarios.ts";

/*
 * `npm run bench:cost` counts what commands cost, with the deployed functions, the embedded service and the cloud of a
 * local run on virtual time. `--json` prints one object and nothing else. `--scenario NAME`, which may be repeated, runs
 * some of the scenarios only. All of them take five minutes of CPU time, in two
 * processes.
 */

/** One for each core of a small machine. */
const PROCESSES = 2;

const print = (line = ""): void => {
  process.stdout.write(`${line}\n`);
};

const readOptions = () => {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean", default: false },
      scenario: { type: "string", multiple: true, default: Object.keys(SCENARIOS) },
    },
  });
  const unknown = values.scenario.find((name) => !Object.hasOwn(SCENARIOS, name));
  if (unknown !== undefined) {
    throw new Error(`no scenario ${unknown}; choose of ${Object.keys(SCENARIOS).join(", ")}`);
  }
  return values;
};

/** The options, or exit 2 with a message. */
const options = (() => {
  try {
    return readOptions();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
})();

const money = (dollars: number): string => `$${dollars.toFixed(2)}`;

const printTable = (results: ReadonlyMap<string, Result>): void => {
  const width = Math.max(...[...results.keys()].map((name) => name.length)) + 2;
  const row = (label: string, cells: readonly (string | number)[]): void =>
    print(label.padEnd(28) + cells.map((cell) => String(cell).padStart(width)).join(""));
  row("", [...results.keys()]);
  const figures = [...results.values()].map((result) => result.figures);
  for (const name of Object.keys(figures[0] ?? {})) {
    row(
      name,
      figures.map((each) => each[name as keyof typeof each]),
    );
  }
};

/** Units of one command times price, for a million commands. */
const printArithmetic = (name: string, { whole, following }: Result): void => {
  print();
  print(`${name}: ${SCENARIOS[name]?.text}`);
  for (const unit of UNITS) {
    if (whole[unit] === 0) continue;
    const { text, perMillion } = PRICES[unit];
    const dollars = (units: number): string => money(units * perMillion);
    print(
      [
        `  ${text.padEnd(28)}${whole[unit].toFixed(4).padStart(10)} × $${perMillion}`.padEnd(52),
        ` = ${dollars(whole[unit]).padStart(9)}`,
        `   following ${following[unit].toFixed(4).padStart(9)} = ${dollars(following[unit]).padStart(9)}`,
      ].join(""),
    );
  }
  const total = (units: typeof whole): string => money(dollarsOf(units) * 1e6).padStart(9);
  print(
    `${"  a million commands".padEnd(52)} = ${total(whole)}   following ${total(following).padStart(21)}`,
  );
};

/** Runs a scenario in a process of its own. */
const runApart = async (name: string): Promise<readonly [name: string, result: Result]> => {
  const worker = fork(fileURLToPath(new URL("./cost-worker.mjs", import.meta.url)), [name]);
  const answers: unknown[] = [];
  worker.on("message", (answer) => answers.push(answer));
  await once(worker, "exit");
  if (answers.length === 0) throw new Error(`scenario ${name} failed`);
  return [name, answers[0] as Result];
};

const chosen = Object.keys(SCENARIOS).filter((name) => options.scenario.includes(name));
const limit = pLimit(PROCESSES);
// The longest scenarios are the last ones and begin first.
const runs = chosen.toReversed().map((name) => limit(() => runApart(name)));
const results = new Map((await Promise.all(runs)).toReversed());

if (options.json) {
  const scenarios = Object.fromEntries([...results].map(([name, { figures }]) => [name, figures]));
  print(JSON.stringify({ scenarios }));
} else {
  printTable(results);
  for (const [name, result] of results) printArithmetic(name, result);
  print();
  const { ledger, queue, bus, provider } = CALL_MS;
  print(
    `Virtual time of a call: ledger ${ledger} ms, queue ${queue} ms, bus ${bus} ms, provider ${provider} ms; a cold start has ${START_CPU_MS} ms of CPU.`,
  );
}
