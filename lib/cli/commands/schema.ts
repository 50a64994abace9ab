import { closestMatch } from "leven";
import { DETAIL_TYPES } from "../../events/envelope.ts";
import { REQUEST_TYPES } from "../../events/request-envelope.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import { printData, visibleText } from "../render.ts";
import { CONFIG_FILES, readSchema } from "../schema-files.ts";
import { addExamples, type DeclareVerb, ending } from "../verb.ts";

const EVENT = "event";
const NAMES = [...CONFIG_FILES, EVENT];
const EVENTS = [...REQUEST_TYPES, ...DETAIL_TYPES];

/** Largest number of characters that a typing error changes. */
const MAX_TYPING_ERROR = 4;

/** @throws ExitError for a name that is not in the list */
const checked = (name: string, what: string, names: readonly string[]): string => {
  if (names.includes(name)) return name;
  const near = closestMatch(name, names, { maxDistance: MAX_TYPING_ERROR });
  const hint = near === undefined ? `it is one of ${names.join(", ")}` : `did you mean ${near}?`;
  throw new ExitError(EXIT.refused, `no ${what} ${visibleText(name)}; ${hint}`);
};

/** Path of a schema below `schemas/`. @throws ExitError for an unknown name */
const pathOf = (name: string, event: string | undefined): string => {
  // An event's name alone can mean nothing else.
  if (event === undefined && EVENTS.some((each) => each === name)) return pathOf(EVENT, name);
  const file = checked(name, "schema", NAMES);
  if (event === undefined) return `${file}.schema.json`;
  if (file !== EVENT) throw new ExitError(EXIT.refused, `the schema ${file} takes no second name`);
  return `events/${checked(event, "event", EVENTS)}.schema.json`;
};

const DESCRIPTION = `Prints a JSON Schema (draft 2020-12): of a file, of any event that Skyhook publishes, or of one event or request.

A schema refers to no other file. Schemas of events describe the whole event, as EventBridge delivers it.`;

export const declareSchema: DeclareVerb = (command) => {
  addExamples(
    command
      .description(DESCRIPTION)
      .argument("<name>", `one of ${NAMES.join(", ")}`)
      .argument("[event]", "with event: name of an event or a request, such as CommandFailed"),
    [
      "npx skyhook schema event > event.schema.json",
      "npx skyhook schema event CommandFailed",
      "npx skyhook schema accounts > accounts.schema.json",
    ],
  ).action(
    ending(async (name: string, event: string | undefined) => {
      printData(await readSchema(pathOf(name, event)));
      return EXIT.ok;
    }),
  );
};
