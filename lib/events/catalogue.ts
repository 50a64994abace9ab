import * as z from "zod";
import { COMMAND_EVENT_DATA } from "./command-data.ts";
import { instant, text } from "./fields.ts";
import { JOB_EVENT_DATA } from "./job-data.ts";
import { DETAIL_VERSION } from "./version.ts";

/** Data of every event that this system publishes, by its detail-type. */
export const EVENT_DATA = { ...COMMAND_EVENT_DATA, ...JOB_EVENT_DATA } as const;

export type DetailType = keyof typeof EVENT_DATA;

/** Identity and origin of an event: `detail.metadata`. */
export const metadataSchema = z.looseObject({
  id: text("Id of the event, a UUID: the same for every delivery of the same fact"),
  version: z
    .literal(DETAIL_VERSION)
    .describe("Version of the detail's shape; an incompatible change raises it"),
  time: instant("Time of the fact, in UTC with milliseconds"),
  correlationId: text(
    "Links all events of one request: the request's `metadata.correlationId`, else the command's id; of a scheduled job, its run",
  ),
  causationId: text(
    "Id of the event or message that led to this fact; of a scheduled job, its run",
  ),
  account: text(
    "Account at the provider, by its name in the accounts file; absent from `CommandRejected`",
  ).optional(),
  sender: text(
    "AWS account that sent the request; absent from events that no request caused",
  ).optional(),
  commandId: text(
    "Id of the command; absent from events without a command, and from `CommandRejected` of a reused id",
  ).optional(),
});
