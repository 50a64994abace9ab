import pc from "picocolors";
import type { Mutation } from "../contract/operation.ts";
import { MUTATIONS } from "../contract/operations.ts";
import { EXIT, ExitError } from "./exit-code.ts";
import { fieldsOf } from "./operation-fields.ts";
import { printResult } from "./output.ts";

const describe = (operation: Mutation) => ({
  id: operation.id,
  reference: operation.reference,
  summary: operation.summary,
  method: operation.method,
  path: operation.path,
  answers: operation.answers,
  ...(operation.deprecated && { deprecated: operation.deprecated }),
  lane: operation.lane,
  afterAmbiguousSend: operation.afterAmbiguousSend,
  fields: fieldsOf(operation),
});

const listing = (): string =>
  MUTATIONS.map(
    ({ id, reference, summary }) => `  ${pc.bold(id.padEnd(24))}${reference.padEnd(5)}${summary}`,
  ).join("\n");

const details = (operation: Mutation): string => {
  const { fields, deprecated } = describe(operation);
  const width = Math.max(...fields.map(({ place, name }) => place.length + name.length + 3));
  const rows = fields.map(
    ({ place, name, required, rule }) =>
      `  ${`${place}.${name}`.padEnd(width)}${required ? "required  " : "          "}${rule}`,
  );
  return [
    `${pc.bold(operation.id)} (${operation.reference}): ${operation.summary}`,
    `${operation.method} ${operation.path}`,
    ...(deprecated ? [`deprecated; successor: ${deprecated.successor}`] : []),
    operation.answers === "tasks"
      ? "answers with tasks, which are followed to their end"
      : "answers at once",
    `one at a time for each ${operation.lane.resource}; after a lost reply: ${operation.afterAmbiguousSend}`,
    "",
    ...rows,
  ].join("\n");
};

/** @throws ExitError for an id that is no operation */
export const findOperation = (id: string): Mutation => {
  const found = MUTATIONS.find((operation) => operation.id === id);
  if (found) return found;
  throw new ExitError(EXIT.refused, `no operation ${id}; there are:\n${listing()}`);
};

/** Prints what can be sent: all operations, or one with its fields and limits. */
export const showOperations = (id: string | undefined, options: { json?: boolean }): void => {
  const chosen: readonly Mutation[] = id === undefined ? MUTATIONS : [findOperation(id)];
  const text =
    id === undefined
      ? `${listing()}\n\nFields and limits of one: skyhook operations <operation>`
      : chosen.map(details).join("\n");
  printResult(options.json ? JSON.stringify(chosen.map(describe), undefined, 2) : text);
};
