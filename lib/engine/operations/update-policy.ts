import { updatePolicy as operation } from "../../contract/lifecycle-policies.ts";
import { type CommandOperation, isRefused, sendAgain } from "./operation.ts";

export const updatePolicy: CommandOperation = {
  operation,
  beforeSendingAgain: sendAgain,
  refusedAgain: isRefused,
};
