import pc from "picocolors";
import type { AfterAmbiguousSend, Mutation, Operation } from "../../contract/operation.ts";
import { fieldsOf, type OperationField } from "../../contract/operation-fields.ts";
import { COMMANDED, READS } from "../../contract/operations.ts";
import { followTask } from "../../contract/tasks.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { printResult, visibleText } from "../render.ts";
import { addExamples, type DeclareVerb } from "../verb.ts";

const AFTER_LOST_REPLY: Readonly<Record<AfterAmbiguousSend, string>> = {
  "send-again": "Skyhook sends the request again; it is idempotent",
  "send-again-unless-done": "Skyhook sends it again; a refusal may then mean success",
  "send-again-when-unlocked": "Skyhook sends it again once no task locks the resource",
  "conflict-means-created": "Skyhook sends it again; “exists already” then means success",
  "look-for-effect": "Skyhook looks for the resource, and sends it again only if it is missing",
};

const ALL: readonly Operation[] = [...COMMANDED, ...READS];

/** An operation as JSON shows it; a mutation has fields that a read lacks. */
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
    "Send (skyhook send OPERATION):",
    ...rowsOf(COMMANDED),
    "",
    "Read (skyhook read OPERATION):",
    ...rowsOf(READS),
  ].join("\n");

/** The fields that identify the resource of a lane. */
const namesOf = ({ lane }: Mutation): string => {
  const names = lane.by.map((field) => field.slice(field.indexOf(".") + 1));
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
};

const consequences = (operation: Operation): readonly string[] => {
  if (operation.kind === "read") return ["Sends one request to the provider and changes nothing."];
  return operation.id === followTask.id
    ? [
        "Skyhook only polls the task until it ends.",
        "It waits for no other command, not even for one on the same task.",
      ]
    : [
        ...(operation.deprecated
          ? [`Deprecated by the provider; successor: ${operation.deprecated.successorPath}`]
          : []),
        operation.answers === "tasks"
          ? "The provider answers with tasks, which Skyhook follows to their end."
          : "The provider's answer is the result; there are no tasks.",
        `Commands with the same ${namesOf(operation)} run one after the other.`,
        `After a lost reply, ${AFTER_LOST_REPLY[operation.afterAmbiguousSend]}.`,
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
      ? [
          "",
          "A required field of an object or a list is required only if that object or list is given.",
        ]
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
    ...(fields.length > 0 ? fieldLines(fields) : ["No fields."]),
    "",
    `All options: npx skyhook ${operation.kind === "read" ? "read" : "send"} ${operation.id} --help`,
  ].join("\n");
};

/** @throws ExitError for an unknown id */
const findOperation = (id: string): Operation => {
  const found = ALL.find((operation) => operation.id === id);
  if (found) return found;
  throw new ExitError(
    EXIT.refused,
    `no operation ${visibleText(id)}; the operations are:\n${listing()}`,
  );
};

export const declareOperations: DeclareVerb = (command) => {
  const description =
    "Lists the operations that can be sent and read. For one operation it lists every field with its limits, and the effect of a lost reply.";
  addExamples(command.description(description), [
    "npx skyhook operations",
    "npx skyhook operations update-container",
    "npx skyhook operations --json",
  ])
    .argument("[operation]", "operation to describe")
    .option("--json", "print JSON")
    .action((id: string | undefined, flags: { readonly json?: boolean }) => {
      const chosen = id === undefined ? ALL : [findOperation(id)];
      const text =
        id === undefined
          ? `${listing()}\n\nFields of an operation: npx skyhook operations OPERATION`
          : chosen.map(details).join("\n");
      printResult(flags.json ? JSON.stringify(chosen.map(describe), undefined, 2) : text);
    });
};
