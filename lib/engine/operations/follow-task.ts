import * as z from "zod";
import { followTask as operation } from "../../contract/tasks.ts";
import { type CommandOperation, isRefused, sendAgain } from "./operation.ts";

/** Whose the task is shows when it is looked at. */
export const followTask: CommandOperation = {
  operation,
  instead: ({ params }) => ({
    kind: "adopt",
    taskIds: [z.parse(operation.params, params).task_id],
  }),
  beforeSendingAgain: sendAgain,
  refusedAgain: isRefused,
};
