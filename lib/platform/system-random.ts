import { v7 } from "uuid";
import type { Random } from "./ports/random.ts";

/** Chance for jitter and ids. Not for secrets: `fraction` can be predicted. */
export const createSystemRandom = (): Random => ({
  fraction: () => Math.random(),
  uuid: () => v7(),
});
