import type { Unit } from "../../../lib/cost/prices.ts";
import { commands, isEnded } from "../../../lib/engine/command.ts";
import type { UsedUnits } from "../../../lib/local/dynamodb-limits.ts";
import type { JsonValue, LedgerItem } from "../../../lib/platform/ports/ledger.ts";

/** `following`: finding out that tasks have ended. `rest`: everything else, also recording the end. */
export type Part = "following" | "rest";

/** Units of one call. */
export interface Use {
  readonly unit: Unit;
  readonly amount: number;
}

const UNIT_OF: Readonly<Record<UsedUnits["limit"], Unit>> = {
  "item writes": "tableWrites",
  "due index writes": "dueIndexWrites",
  "list index writes": "listIndexWrites",
  "item reads": "reads",
  "due index reads": "reads",
  "list index reads": "reads",
};

export const usesOf = (used: readonly UsedUnits[]): readonly Use[] =>
  used.map(({ limit, units }) => ({ unit: UNIT_OF[limit], amount: units }));

const fieldOf = (value: JsonValue | undefined, name: string): JsonValue | undefined =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as Readonly<Record<string, JsonValue>>)[name]
    : undefined;

const kindOf = (key: string): string => key.slice(0, key.indexOf("#"));
const statusOf = (item: Pick<LedgerItem, "value">) =>
  fieldOf(fieldOf(item.value, "state"), "status");

/**
 * Divides the ledger's units of one run of the poller into those of following and those of ends:
 *
 * | call | end | following |
 * |---|---|---|
 * | due query, lease, rate limit | | always |
 * | read or write of a task | it has ended | it is open |
 * | write of a command | it has ended | it has not |
 * | write of a lane | it has another holder than when this run read it | else, such as the check of a grant |
 * | read of a command or lane | the next write of the item in the run belongs to an end | else |
 *
 * The read right before the write of a task's end counts as following, because the task was open.
 * @param record gets each use with its part, at the latest in `end`
 */
export const createAttribution = (record: (part: Part, uses: readonly Use[]) => void) => {
  /** Uses by reads of a command or lane, which the next write of the item decides. */
  const undecided = new Map<string, Use[]>();
  const holders = new Map<string, JsonValue | undefined>();

  const isEnd = (item: LedgerItem): boolean => {
    switch (kindOf(item.key)) {
      case "task":
        return statusOf(item) !== "open";
      case "command":
        return isEnded(commands.fromItem(item));
      case "lane":
        return fieldOf(item.value, "holder") !== holders.get(item.key);
      default:
        return false;
    }
  };

  return {
    read(key: string, item: LedgerItem | undefined, uses: readonly Use[]): void {
      const kind = kindOf(key);
      if (item && kind === "lane") holders.set(key, fieldOf(item.value, "holder"));
      if (kind === "command" || kind === "lane") {
        undecided.set(key, [...(undecided.get(key) ?? []), ...uses]);
      } else record(item && isEnd(item) ? "rest" : "following", uses);
    },
    wrote(item: LedgerItem, uses: readonly Use[]): void {
      const before = undecided.get(item.key) ?? [];
      undecided.delete(item.key);
      record(isEnd(item) ? "rest" : "following", [...before, ...uses]);
    },
    queried: (uses: readonly Use[]): void => record("following", uses),
    /** Ends the run. */
    end(): void {
      for (const uses of undecided.values()) record("following", uses);
      undecided.clear();
      holders.clear();
    },
  };
};
