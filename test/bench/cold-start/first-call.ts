import { readFileSync } from "node:fs";

/**
 * A process that imports the handler of its first argument and calls it with the event in the file of its second one.
 * Prints the CPU time of both, in ms.
 */
const [, , handlerFile = "", eventFile = ""] = process.argv;
const event: unknown = JSON.parse(readFileSync(eventFile, "utf8"));
const context = {
  functionName: "skyhook-bench",
  awsRequestId: "bench",
  invokedFunctionArn: "arn:aws:lambda:us-east-1:000000000000:function:skyhook-bench",
  memoryLimitInMB: "512",
  getRemainingTimeInMillis: () => 30_000,
};

const cpuMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

const atStart = process.cpuUsage();
const { handler } = await import(handlerFile);
const loadMs = cpuMs(atStart);
const loaded = process.cpuUsage();
const answer: unknown = await handler(event, context);
process.stderr.write(`${JSON.stringify(answer)}\n`);
process.stdout.write(`${JSON.stringify({ loadMs, callMs: cpuMs(loaded) })}\n`);
process.exit(0);
