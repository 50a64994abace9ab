import { faultsOf, LOAD, runLoad } from "./run.ts";

/*
 * `npm run bench:throughput` sends 500 commands a second for a minute to the deployed functions, in the cloud of a local
 * run with AWS's limits on, in virtual time. It exits with 1 if a command is lost or does not succeed once.
 */

const print = (name: string, value: string | number): void => {
  process.stdout.write(`${name.padEnd(44)}${value}\n`);
};

const before = process.cpuUsage();
const outcome = await runLoad(LOAD);
const { user, system } = process.cpuUsage(before);

for (const name of [
  ...(["sent", "accepted", "succeeded", "lost", "wrong", "publishedTwice"] as const),
  ...(["deadLetters", "overruns", "redeliveries", "events", "spanSeconds"] as const),
]) {
  print(name, outcome[name]);
}
for (const [name, latency] of [
  ["from the request to the mutation, ms", outcome.toMutation],
  ["from the task's end to the event, ms", outcome.toEvent],
] as const) {
  print(name, `p50 ${latency.p50}, p90 ${latency.p90}, p99 ${latency.p99}`);
}
for (const [limit, calls] of outcome.throttled) print(`throttled: ${limit}`, calls);
for (const [text, count] of outcome.logged) print(text, count);
print("CPU time, s", ((user + system) / 1e6).toFixed(1));

const faults = faultsOf(outcome);
for (const fault of faults) print("FAULT", fault);
process.exit(faults.length === 0 ? 0 : 1);
