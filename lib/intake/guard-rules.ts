import { type PlacedProblem, placedProblemsOf } from "../contract/problem.ts";
import { guardSchema } from "../engine/guard.ts";
import { fillTemplate, leavesOf, type Template } from "./mapping.ts";

type Place = readonly PropertyKey[];

const PLACE = { project_id: 1, region_id: 1 };
const ID = "00000000-0000-4000-8000-000000000000";

/** A right value of each field, so that a mapped one hides nothing of those beside it. */
const SAMPLES = new Map<PropertyKey | undefined, unknown>([
  ["floating_ip", { ...PLACE, floating_ip_id: ID }],
  ["network", { ...PLACE, network_id: ID }],
  ["project_id", PLACE.project_id],
  ["region_id", PLACE.region_id],
  ["floating_ip_id", ID],
  ["network_id", ID],
  ["key", "key"],
  ["equals", "value"],
  ["not", "value"],
  ["exists", true],
  ["absent", true],
]);

/** What is wrong with a guard, whatever an event will put into its mapped parts. */
export const guardProblems = (guard: Template): readonly PlacedProblem[] => {
  // What is no object is for the schema to tell of.
  if (guard.kind !== "object") return [];
  const open = new Set(
    leavesOf(guard).flatMap(({ leaf, place }) =>
      leaf.kind === "constant" ? [] : [JSON.stringify(place)],
    ),
  );
  const sample = fillTemplate(guard, (_path, place: Place) => SAMPLES.get(place.at(-1)));
  const read = guardSchema.safeParse(sample);
  return placedProblemsOf(read.error?.issues ?? []).filter(
    ({ path, rule }) => rule === "unknown field" || !open.has(JSON.stringify(path)),
  );
};
