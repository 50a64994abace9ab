import * as z from "zod";
import type { PlacedProblem } from "../contract/problem.ts";
import { couldMatchField, readPattern } from "./event-patterns/pattern.ts";

/** Events of ours that follow from commands: a command made by one would make the next, for ever. */
const OF_COMMANDS = ["Command", "Task", "AccountKey"];

/** Fields around the detail that EventBridge fills with text. */
const TEXT_FIELDS = ["account", "detail-type", "id", "region", "source", "time", "version"];

const listSchema = z.array(z.unknown());
const patternSchema = z.looseObject({});
type Pattern = z.output<typeof patternSchema>;

/** A number where EventBridge has text never matches; mostly it is an id whose quotes are missing. */
const neverText = (pattern: Pattern): readonly PlacedProblem[] =>
  TEXT_FIELDS.flatMap((field) =>
    (listSchema.safeParse(pattern[field]).data ?? []).flatMap((value, index) =>
      typeof value === "string" || typeof value === "object"
        ? []
        : [{ path: [field, index], rule: "a text in quotes: there EventBridge has text only" }],
    ),
  );

const detailTypeProblems = (detailTypes: unknown): readonly PlacedProblem[] => {
  const path = ["detail-type"];
  const list = listSchema.safeParse(detailTypes).data;
  if (!list) return [{ path, rule: "required: of Skyhook's own events, each is listed by name" }];
  return list.flatMap((detailType, index): readonly PlacedProblem[] => {
    if (typeof detailType !== "string") {
      return [{ path: [...path, index], rule: "of Skyhook's own events, the exact name" }];
    }
    return OF_COMMANDS.some((begin) => detailType.startsWith(begin))
      ? [
          {
            path: [...path, index],
            rule: "follows from commands, so the command would call itself again for ever; to run one after another, commands have `after`",
          },
        ]
      : [];
  });
};

/** Of our own events, only those that no command makes, named one by one. */
const ownEventProblems = (pattern: Pattern, eventSource: string): readonly PlacedProblem[] => {
  const sources = listSchema.safeParse(pattern.source).data ?? [];
  if (sources.length > 1 || sources[0] !== eventSource) {
    const rule = `could match Skyhook's own events; those only as source: [${eventSource}], with a list of detail-types`;
    return [{ path: ["source"], rule }];
  }
  const notAllowed = ["account", "$or"].filter((field) => Object.hasOwn(pattern, field));
  return [
    ...detailTypeProblems(pattern["detail-type"]),
    ...notAllowed.map((field) => ({
      path: [field],
      rule: "not with Skyhook's own events: they are taken from its own AWS account only",
    })),
  ];
};

/** What AWS services tell is on the default bus, and what Skyhook tells on its own. */
const busProblems = (
  pattern: Pattern,
  bus: unknown,
  eventSource: string,
): readonly PlacedProblem[] => {
  const sources = listSchema.safeParse(pattern.source).data ?? [];
  const isOfAws = sources.some((source) => typeof source === "string" && source.startsWith("aws."));
  if (isOfAws && bus !== "default" && !Object.hasOwn(pattern, "account")) {
    const rule =
      "AWS services put their events on the default bus: say `bus: default`, or name in `account` the AWS accounts that send theirs on";
    return [{ path: ["source"], rule }];
  }
  return bus === "default" && sources.includes(eventSource)
    ? [
        {
          path: ["source"],
          rule: "Skyhook's own events are on its own bus, not on the default one",
        },
      ]
    : [];
};

/**
 * What is wrong with a rule's pattern: what EventBridge would refuse, what could never match, and what
 * would let a command call itself.
 * @param bus as the rule says it
 * @param eventSource `source` of Skyhook's own events
 */
export const patternProblems = (
  raw: unknown,
  bus: unknown,
  eventSource: string,
): readonly PlacedProblem[] => {
  const pattern = patternSchema.safeParse(raw).data;
  // What is no object is for the schema to tell of.
  if (!pattern) return [];
  const read = readPattern(raw);
  const problems = [
    ...(read.kind === "invalid" ? read.problems : []),
    ...neverText(pattern),
    ...busProblems(pattern, bus, eventSource),
  ];
  if (!Object.hasOwn(pattern, "source")) {
    const rule = "required, or the rule would match Skyhook's own events too";
    return [...problems, { path: ["source"], rule }];
  }
  return read.kind === "valid" && couldMatchField(read.pattern, "source", eventSource)
    ? [...problems, ...ownEventProblems(pattern, eventSource)]
    : problems;
};
