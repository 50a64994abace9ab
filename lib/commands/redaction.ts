import { type Mutation, requestField } from "../contract/operation.ts";
import type { Problem } from "../contract/problem.ts";
import type { CommandRequestBody } from "../ledger/command.ts";

/** Shorter values are only replaced as whole words: replacing every `1` would blot out the text. */
const MIN_LENGTH_INSIDE_WORDS = 4;

const stringsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return Object.values(value).flatMap(stringsIn);
};

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * Removes the secret values of a request from texts that the provider wrote.
 * @returns a function from text to text without any of those values
 */
export const redactorOf = (
  operation: Mutation,
  request: CommandRequestBody | undefined,
): ((text: string) => string) => {
  const values = request
    ? (operation.secrets ?? []).flatMap((field) => stringsIn(requestField(request, field)))
    : [];
  const patterns = values
    .filter((value) => value !== "")
    .sort((a, b) => b.length - a.length)
    .map((value) =>
      value.length >= MIN_LENGTH_INSIDE_WORDS
        ? escaped(value)
        : `(?<![A-Za-z0-9])${escaped(value)}(?![A-Za-z0-9])`,
    );
  if (patterns.length === 0) return (text) => text;
  const secret = new RegExp(patterns.join("|"), "g");
  return (text) => text.replace(secret, "[redacted]");
};

export const redactProblems = (
  problems: readonly Problem[],
  redact: (text: string) => string,
): Problem[] => problems.map(({ path, rule }) => ({ path: redact(path), rule: redact(rule) }));
