import * as z from "zod";

const taskSchema = z.looseObject({
  id: z.string(),
  end: z.looseObject({ kind: z.string(), message: z.string().optional() }).optional(),
});

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
  // A rejection that is known from its event only has none of these.
  problemCount: z.int().optional(),
  rejectedAt: z.string().optional(),
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
  // A Skyhook of an earlier version tells nothing of these.
  tasks: z.array(taskSchema).optional(),
  sender: z.string().optional(),
  history: z.array(attemptSchema).optional(),
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

/** What became of a request that was sent. */
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
