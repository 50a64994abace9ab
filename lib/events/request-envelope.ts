import * as z from "zod";
import { envelopeFields } from "./envelope.ts";
import { commandRequestedSchema, requestMetadataSchema, taskFollowData } from "./requests.ts";

/** The detail of a `TaskFollowRequested`, by which a sender asks Skyhook to follow a task of another client. */
const taskFollowRequestedSchema = z.strictObject({
  metadata: requestMetadataSchema.describe("Identity and origin of the request; may be `{}`"),
  data: taskFollowData().describe("Task to follow"),
});

/** Details of the events that a sender puts on the bus for Skyhook, by detail-type. */
export const REQUEST_DETAIL = {
  CommandRequested: commandRequestedSchema.describe("Asks Skyhook to run one operation."),
  TaskFollowRequested: taskFollowRequestedSchema.describe(
    "Asks Skyhook to follow a background task that another client started.",
  ),
} as const;

export type RequestType = keyof typeof REQUEST_DETAIL;

export const isRequestType = (name: string): name is RequestType =>
  Object.hasOwn(REQUEST_DETAIL, name);

/** The names of the events that a sender puts on the bus for Skyhook. */
export const REQUEST_TYPES: readonly RequestType[] =
  Object.keys(REQUEST_DETAIL).filter(isRequestType);

/** Schema of a request as its sender writes it; EventBridge fills in the other fields. */
export const requestSchemaOf = <T extends RequestType>(type: T) =>
  z.looseObject({
    source: z.string().min(1).describe("Name of the sending system; any but Skyhook's own source"),
    "detail-type": z.literal(type).describe("Name of the request"),
    ...z.object(envelopeFields).partial().shape,
    detail: REQUEST_DETAIL[type],
  });
