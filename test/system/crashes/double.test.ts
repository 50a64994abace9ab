import { describe } from "vitest";
import { OPERATIONS_AT_ONCE } from "./at-once.ts";
import { describeDoubleCrashes } from "./laws.ts";
import { OPERATIONS_WITH_TASKS } from "./with-tasks.ts";

const CANNOT_BE_DONE_TWICE = /\((?:E2|E11|E15)\)$/;

describe("two kills in one scenario", () => {
  describeDoubleCrashes(
    [...OPERATIONS_AT_ONCE, ...OPERATIONS_WITH_TASKS].filter(({ name }) =>
      CANNOT_BE_DONE_TWICE.test(name),
    ),
  );
});
