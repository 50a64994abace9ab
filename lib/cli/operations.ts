import pc from "picocolors";
import { MUTATIONS } from "../contract/mutations.ts";
import type { AfterAmbiguousSend, Mutation } from "../contract/operation.ts";
import { EXIT, ExitError } from "./exit-code.ts";
import { fieldsOf } from "./operation-fields.ts";
import { printResult } from "./output.ts";

const AFTER_LOST_REPLY: Readonly<Record<AfterAmbiguousSend, string>> = {
  "send-again": "it is sent again; twice is the same as once",
  "send-again-unless-done": "it is sent again; a refusal may then mean that it is done",
  "send-again-when-unlocked": "it is sent again when no task holds the resource",
  "conflict-means-created": "it is sent again; “exists already” then means that it is done",
  "look-for-effect": "it is looked for, and sent again only when it is not there",
};

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

/** The fields that name the resource, as a person reads them. */
const namesOf = ({ lane }: Mutation): string => {
  const names = lane.by.map((field) => field.slice(field.indexOf(".") + 1));
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
};

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
    ...(deprecated ? [`deprecated by the provider; successor: ${deprecated.successor}`] : []),
    operation.answers === "tasks"
      ? "The provider works in the background; its tasks are followed to their end."
      : "The provider answers at once.",
    `Commands with the same ${namesOf(operation)} run one after the other.`,
    `When no reply comes back, ${AFTER_LOST_REPLY[operation.afterAmbiguousSend]}.`,
    "",
    ...rows,
    ...(fields.some(({ name }) => name.includes("."))
      ? ["", "Inside an object or a list, “required” holds when the object or the list is given."]
      : []),
    "",
    `All flags: skyhook send ${operation.id} --help`,
  ].join("\n");
};

/** @throws ExitError for an id that is no operation */
const findOperation = (id: string): Mutation => {
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
