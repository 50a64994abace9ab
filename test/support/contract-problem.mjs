/**
 * Checks events against the JSON Schemas in schemas/, by a validator that is not zod. JavaScript, because spawned programs
 * import it on Node 20.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

const FOLDER = new URL("../../schemas/events/", import.meta.url);
const SUFFIX = ".schema.json";

const TYPES = new Set(
  readdirSync(FOLDER)
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length)),
);

const require = createRequire(import.meta.url);

/** Made for the first event, because most spawned programs publish none. */
let ajv;
const validatorOf = (type) => {
  if (!ajv) {
    const { Ajv2020 } = require("ajv/dist/2020.js");
    ajv = new Ajv2020({ strict: true, strictRequired: false });
    require("ajv-formats").default(ajv);
  }
  return (
    ajv.getSchema(`urn:skyhook:event:${type}:1`) ??
    ajv.compile(JSON.parse(readFileSync(new URL(`${type}${SUFFIX}`, FOLDER), "utf8")))
  );
};

/** What is wrong with an event in EventBridge's envelope, by its JSON Schema; undefined for a valid one. */
export const contractProblem = (event) => {
  const type = event["detail-type"];
  if (!TYPES.has(type)) return `${type}: no JSON Schema in schemas/events`;
  const validate = validatorOf(type);
  if (validate(event)) return undefined;
  return validate.errors
    .map(({ instancePath, message }) => `${type}: ${instancePath} ${message}`)
    .join("; ");
};
