/**
 * Checks every event that a local bus of this process delivers against its JSON Schema. The bus gives each handler a copy
 * of the event; this module wraps the function that makes it. Vitest imports it before each test file, and a spawned
 * `skyhook start` before the program.
 */
import { contractProblem } from "./contract-problem.mjs";

/** Whether Skyhook published the event: tests of the bus put events without its metadata. */
const isPublished = (event) =>
  event?.source === "skyhook" && typeof event.detail?.metadata?.causationId === "string";

const copy = globalThis.structuredClone;

function checkedCopy(value, options) {
  const problem = isPublished(value) ? contractProblem(value) : undefined;
  if (problem !== undefined) {
    // Not thrown here: the bus would count it as a failure of the handler, and try again.
    process.nextTick(() => {
      throw new Error(`published against its contract: ${problem}`);
    });
  }
  return copy(value, options);
}

if (copy.name !== checkedCopy.name) globalThis.structuredClone = checkedCopy;
