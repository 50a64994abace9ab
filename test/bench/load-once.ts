import { performance } from "node:perf_hooks";

/** A process that imports the module of its argument, and prints the milliseconds since its start and of the import. */
const importedAtMs = performance.now();
await import(process.argv[2] ?? "");
const loadedAtMs = performance.now();
// performance.now() starts with the process.
process.stdout.write(
  JSON.stringify({ sinceStartMs: loadedAtMs, importMs: loadedAtMs - importedAtMs }),
);
