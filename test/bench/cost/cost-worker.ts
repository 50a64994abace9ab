import { runScenario, SCENARIOS, scenarioOf } from "./scenarios.ts";

/* Runs one scenario, given by name, and sends its result to the parent process. */

const scenario = SCENARIOS[process.argv[2] ?? ""];
if (!scenario || !process.send) throw new Error("cost.mjs starts this process");

// Compiles the code before the measurement, as on a machine that has run for a while.
await runScenario(scenarioOf.together(300, 20));
process.send(await runScenario(scenario), () => process.exit());
