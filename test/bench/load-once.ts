import { performance } from "node:perf_hooks";

/** Run as a process of its own: loads the module that its argument names, and tells how long that took. */
const importedAtMs = performance.now();
await import(process.argv[2] ?? "");
const loadedAtMs = performance.now();
// The clock began with the process.
process.stdout.write(
  JSON.stringify({ sinceStartMs: loadedAtMs, importMs: loadedAtMs - importedAtMs }),
);
