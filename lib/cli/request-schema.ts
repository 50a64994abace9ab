import * as z from "zod";

const taskSchema = z.looseObject({
  id: z.string(),
  end: z.looseObject({ kind: z.string(), message: z.string().optional() }).optional(),
  recorded: z
    .looseObject({
      status: z.string(),
      since: z.string(),
      missingSince: z.string().optional(),
      endedAt: z.string().optional(),
      message: z.string().optional(),
    })
    .optional(),
});

const eventSchema = z.looseObject({
  type: z.string(),
  id: z.string(),
  time: z.string(),
  state: z.enum(["published", "waiting"]),
  taskId: z.string().optional(),
});

const storedRequestSchema = z.discriminatedUnion("state", [
  z.looseObject({
    state: z.literal("kept"),
    params: z.record(z.string(), z.json()),
    query: z.record(z.string(), z.json()),
    body: z.record(z.string(), z.json()).optional(),
  }),
  z.looseObject({ state: z.literal("erased") }),
]);

const attemptSchema = z.looseObject({
  number: z.int(),
  startedAt: z.string(),
  endedAt: z.string().optional(),
  disposition: z.string().optional(),
  code: z.string().optional(),
  status: z.int().optional(),
  message: z.string().optional(),
});

const waitsForSchema = z.discriminatedUnion("for", [
  z.looseObject({
    for: z.literal("lane"),
    ahead: z.int(),
    holder: z.object({ sender: z.string(), commandId: z.string() }).optional(),
  }),
  z.looseObject({ for: z.literal("others"), commandIds: z.array(z.string()) }),
  z.looseObject({ for: z.literal("reply"), until: z.string() }),
  z.looseObject({
    for: z.literal("next-attempt"),
    until: z.string(),
    because: z.string().optional(),
  }),
  z.looseObject({
    for: z.literal("tasks"),
    taskIds: z.array(z.string()),
    unknown: z
      .array(z.object({ taskId: z.string(), since: z.string(), until: z.string() }))
      .optional(),
  }),
]);

const rejectionSchema = z.looseObject({
  commandId: z.string().optional(),
  eventId: z.string().optional(),
  operation: z.string(),
  reason: z.string(),
  problems: z.array(z.object({ path: z.string(), rule: z.string() })),
  // A rejection that is known only from its event has none of these.
  problemCount: z.int().optional(),
  rejectedAt: z.string().optional(),
  events: z.array(eventSchema).optional(),
});

const viewSchema = z.looseObject({
  commandId: z.string(),
  operation: z.string(),
  status: z.string(),
  lane: z.string(),
  attempts: z.int(),
  lostReplies: z.int().optional(),
  lastError: z.string().optional(),
  outcome: z.string().optional(),
  reason: z.string().optional(),
  problems: z.array(z.object({ path: z.string(), rule: z.string() })).optional(),
  after: z.array(z.string()).optional(),
  wouldSend: z
    .object({ method: z.string(), path: z.string(), body: z.json().optional() })
    .optional(),
  tag: z.object({ key: z.string(), value: z.string() }).nullable().optional(),
  taskIds: z.array(z.string()),
  createdResources: z.record(z.string(), z.array(z.union([z.string(), z.int()]))).optional(),
  acceptedAt: z.string(),
  endedAt: z.string().optional(),
  deadline: z.string(),
  // Earlier versions of Skyhook send none of these.
  tasks: z.array(taskSchema).optional(),
  sender: z.string().optional(),
  history: z.array(attemptSchema).optional(),
  events: z.array(eventSchema).optional(),
  request: storedRequestSchema.optional(),
  waitsFor: waitsForSchema.optional(),
  account: z.string().optional(),
  accountPausedUntil: z.string().optional(),
  isUncertain: z.boolean().optional(),
  cancelRequestedAt: z.string().optional(),
  resolution: z
    .object({ applied: z.boolean(), resolvedAt: z.string(), note: z.string().optional() })
    .optional(),
  personCan: z.array(z.string()).optional(),
  rejections: z.array(rejectionSchema).optional(),
});

/** The state of a sent request: a command, or a rejection. */
export const requestStateSchema = z.discriminatedUnion("kind", [
  viewSchema.extend({ kind: z.literal("command") }),
  rejectionSchema.extend({
    kind: z.literal("rejected"),
    rejections: z.array(rejectionSchema).optional(),
  }),
]);

export type RequestState = z.output<typeof requestStateSchema>;
export type RejectionState = z.output<typeof rejectionSchema>;
export type CommandState = Extract<RequestState, { kind: "command" }>;
