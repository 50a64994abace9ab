import { type Command, Option } from "commander";
import { LIST_STATUSES } from "../admin/list-query.ts";
import type { Clock } from "../platform/ports/clock.ts";
import { shellWord } from "./render.ts";
import { instantOf } from "./time-flag.ts";

/** The filters of `list`, which select the commands of a bulk action too. */
export interface FilterFlags {
  readonly account?: string;
  readonly operation?: string;
  readonly sender?: string;
  readonly resource?: string;
  readonly status?: string;
  readonly since?: string;
  readonly until?: string;
}

const NAMES = ["account", "operation", "sender", "resource", "status", "since", "until"] as const;

/** Adds the options of `FilterFlags`. */
export const withFilterOptions = (command: Command): Command =>
  command
    .option("--account <name>", "only commands of this account")
    .option("--operation <name>", "only this operation")
    .option("--sender <aws-account>", "only commands of this AWS account")
    .option("--resource <text>", "only commands with this text in the name of their lane")
    .addOption(new Option("--status <status>", "only this status").choices(LIST_STATUSES))
    .option("--since <time>", "accepted at or after: 24h, 7d, a day, or a time in ISO 8601")
    .option("--until <time>", "accepted at or before, in the same forms");

/**
 * The filters that were given; times as instants in ISO 8601.
 * @throws ExitError for a time that cannot be read
 */
export const filtersOf = (flags: FilterFlags, clock: Clock): FilterFlags => {
  const given = NAMES.flatMap((name) => {
    const text = flags[name];
    if (text === undefined) return [];
    const isTime = name === "since" || name === "until";
    return [[name, isTime ? instantOf(`--${name}`, text, clock) : text] as const];
  });
  return Object.fromEntries(given);
};

/** Filters as options for a shell, each with a space before it. */
export const filterWords = (filters: FilterFlags): string =>
  NAMES.flatMap((name) => {
    const text = filters[name];
    return text === undefined ? [] : [` --${name} ${shellWord(text)}`];
  }).join("");
