import pc from "picocolors";
import type { AfterAmbiguousSend, Mutation, Operation } from "../../contract/operation.ts";
import { COMMANDED, READS } from "../../contract/operations.ts";
import { followTask } from "../../contract/tasks.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { fieldsOf, type OperationField } from "../operation-fields.ts";
import { printResult } from "../render.ts";
import type { DeclareVerb } from "../verb.ts";

const AFTER_LOST_REPLY: Readonly<Record<AfterAmbiguousSend, string>> = {
  "send-again": "it is sent again; twice is the same as once",
  "send-again-unless-done": "it is sent again; a refusal may then mean that it is done",
  "send-again-when-unlocked": "it is sent again when no task holds the resource",
  "conflict-means-created": "it is sent again; “exists already” then means that it is done",
  "look-for-effect": "it is looked for, and sent again only when it is not there",
};

const ALL: readonly Operation[] = [...COMMANDED, ...READS];

/** An operation in full for a program; what only a change has to say stands in between. */
const describe = (operation: Operation) => ({
  id: operation.id,
  kind: operation.kind,
  reference: operation.reference,
  summary: operation.summary,
  method: operation.method,
  path: operation.path,
  ...(operation.kind === "mutation" && {
    answers: operation.answers,
    ...(operation.deprecated && { deprecated: operation.deprecated }),
    lane: operation.lane,
    afterAmbiguousSend: operation.afterAmbiguousSend,
  }),
  fields: fieldsOf(operation),
});

const rowsOf = (operations: readonly Operation[]): readonly string[] => {
  const width = Math.max(...operations.map(({ reference }) => reference.length)) + 2;
  return operations.map(
    ({ id, reference, summary }) =>
      `  ${pc.bold(id.padEnd(26))}${reference.padEnd(width)}${summary}`,
  );
};

const listing = (): string =>
  [
    "can be sent, as commands:",
    ...rowsOf(COMMANDED),
    "",
    "can be read, from the provider itself:",
    ...rowsOf(READS),
  ].join("\n");

/** The fields that name the resource, as a person reads them. */
const namesOf = ({ lane }: Mutation): string => {
  const names = lane.by.map((field) => field.slice(field.indexOf(".") + 1));
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
};

const consequences = (operation: Operation): readonly string[] => {
  if (operation.kind === "read") return ["Nothing changes; the provider itself is asked, once."];
  return operation.id === followTask.id
    ? [
        "Nothing is sent to the provider but checks of that task, until it ends.",
        "It waits for no other command, even of the same task.",
      ]
    : [
        ...(operation.deprecated
          ? [`deprecated by the provider; successor: ${operation.deprecated.successorPath}`]
          : []),
        operation.answers === "tasks"
          ? "The provider works in the background; its tasks are followed to their end."
          : "The provider answers at once.",
        `Commands with the same ${namesOf(operation)} run one after the other.`,
        `When no reply comes back, ${AFTER_LOST_REPLY[operation.afterAmbiguousSend]}.`,
      ];
};

const fieldLines = (fields: readonly OperationField[]): readonly string[] => {
  const width = Math.max(...fields.map(({ place, name }) => place.length + name.length + 3));
  return [
    ...fields.map(
      ({ place, name, required, rule }) =>
        `  ${`${place}.${name}`.padEnd(width)}${required ? "required  " : "          "}${rule}`,
    ),
    ...(fields.some(({ name }) => name.includes("."))
      ? ["", "Inside an object or a list, “required” holds when the object or the list is given."]
      : []),
  ];
};

const details = (operation: Operation): string => {
  const fields = fieldsOf(operation);
  return [
    `${pc.bold(operation.id)} (${operation.reference}): ${operation.summary}`,
    `${operation.method} ${operation.path}`,
    ...consequences(operation),
    "",
    ...(fields.length > 0 ? fieldLines(fields) : ["It has no fields."]),
    "",
    `All flags: npx skyhook ${operation.kind === "read" ? "read" : "send"} ${operation.id} --help`,
  ].join("\n");
};

/** @throws ExitError for an id that is no operation */
const findOperation = (id: string): Operation => {
  const found = ALL.find((operation) => operation.id === id);
  if (found) return found;
  throw new ExitError(EXIT.refused, `no operation ${id}; there are:\n${listing()}`);
};

export const declareOperations: DeclareVerb = (command) => {
  command
    .argument("[operation]", "only this one, with all its fields")
    .option("--json", "print JSON")
    .action((id: string | undefined, flags: { readonly json?: boolean }) => {
      const chosen = id === undefined ? ALL : [findOperation(id)];
      const text =
        id === undefined
          ? `${listing()}\n\nFields and limits of one: npx skyhook operations <operation>`
          : chosen.map(details).join("\n");
      printResult(flags.json ? JSON.stringify(chosen.map(describe), undefined, 2) : text);
    });
};
