import { updateStorageEvent as operation } from "../../contract/storage-events.ts";
import { type CommandOperation, isRefused, sendAgain } from "./operation.ts";

export const updateStorageEvent: CommandOperation = {
  operation,
  beforeSendingAgain: sendAgain,
  refusedAgain: isRefused,
};
