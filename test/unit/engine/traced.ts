import { updatePolicy } from "../../support/requests.ts";
import type { World } from "../../support/world.ts";

export const POLICY_LANE = "local/policy/1234567/76/1";

export const linesOf = (world: World, commandId: string) =>
  world.log.lines.filter(({ fields }) => fields.commandId === commandId);

/** A request that differs from others by more than its command id. */
export const traced = (commandId: string) => ({
  ...updatePolicy(commandId),
  metadata: { id: `event-${commandId}`, commandId, correlationId: `trace-${commandId}` },
});
