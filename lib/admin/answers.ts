import * as z from "zod";

const MAX_NOTE_CHARACTERS = 500;

const howItEnded = {
  status: z.enum(["succeeded", "failed", "cancelled"]),
  reason: z.string().optional(),
  endedAt: z.iso.datetime(),
};

/** What became of a person's wish that a command ends. */
export const cancelAnswerSchema = z.discriminatedUnion("kind", [
  /** It has ended by it: as `cancelled`, or as `failed` where an earlier request may have taken effect. */
  z.object({
    kind: z.literal("stopped"),
    ...howItEnded,
    /** Tasks that it had followed and not started; they go on at the provider. */
    unfollowed: z.array(z.string()).optional(),
  }),
  /** A request is on its way; what comes of it is known after this time at the latest. */
  z.object({ kind: z.literal("under-way"), waitMs: z.int() }),
  /** The provider is at work on these tasks. */
  z.object({ kind: z.literal("following"), taskIds: z.array(z.string()) }),
  /** It had ended by itself. */
  z.object({ kind: z.literal("ended"), ...howItEnded }),
]);

export type CancelAnswer = z.output<typeof cancelAnswerSchema>;

/** What a person says about an outcome that nobody could tell. */
export const findingSchema = z.strictObject({
  /** Whether the request took effect. */
  applied: z.boolean(),
  note: z
    .string()
    .transform((text) => text.replaceAll(/\s+/g, " ").trim())
    .pipe(
      z
        .string()
        .min(1)
        .max(MAX_NOTE_CHARACTERS)
        .regex(/^[^\p{Cc}\p{Surrogate}]*$/u, { error: "plain text" }),
    )
    .optional(),
});

export type Finding = z.output<typeof findingSchema>;

const kept = {
  applied: z.boolean(),
  resolvedAt: z.iso.datetime(),
  note: z.string().optional(),
};

/** What became of a person's finding. */
export const resolveAnswerSchema = z.discriminatedUnion("kind", [
  /** It is kept, since now or before. */
  z.object({ kind: z.literal("resolved"), ...kept }),
  /** Another one was kept before, and stays. */
  z.object({ kind: z.literal("resolved-otherwise"), ...kept }),
  /** The command's end says what became of it. */
  z.object({
    kind: z.literal("known"),
    status: z.enum(["succeeded", "failed", "cancelled"]),
    reason: z.string().optional(),
  }),
  /** The command has not ended. */
  z.object({ kind: z.literal("open"), status: z.string() }),
]);

export type ResolveAnswer = z.output<typeof resolveAnswerSchema>;

/** What became of a person's wish that an account sends again. `commands`: how many go on now. */
export const liftAnswerSchema = z.discriminatedUnion("kind", [
  /** `until`: when the pause would have ended. */
  z.object({ kind: z.literal("lifted"), until: z.iso.datetime(), commands: z.int() }),
  z.object({ kind: z.literal("not-paused"), commands: z.int() }),
]);

export type LiftAnswer = z.output<typeof liftAnswerSchema>;
