import { updateContainer as operation } from "../../contract/containers.ts";
import { type CommandOperation, isRefused, sendAgain } from "./operation.ts";

export const updateContainer: CommandOperation = {
  operation,
  beforeSendingAgain: sendAgain,
  refusedAgain: isRefused,
};
