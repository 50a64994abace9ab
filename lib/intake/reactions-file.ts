import { type ConfigReading, readConfig } from "../config/config-file.ts";
import type { Reaction } from "./reaction.ts";
import { type ReactionContext, rulesBetween } from "./reaction-rules.ts";
import { reactionsSchema, toReactions } from "./reactions-config.ts";

/** Reads a reactions file, YAML or JSON; every mistake in it is told at once, with its line. */
export const readReactions = (
  text: string,
  context: ReactionContext,
): ConfigReading<readonly Reaction[]> => {
  const read = readConfig(reactionsSchema, text, (content) => rulesBetween(content, context));
  return read.kind === "valid" ? { kind: "valid", value: toReactions(read.value, context) } : read;
};
