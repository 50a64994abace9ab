import * as z from "zod";
import type { JsonValue } from "../platform/ports/ledger.ts";

const howItEnded = {
  status: z.enum(["succeeded", "failed", "cancelled"]),
  reason: z.string().optional(),
  endedAt: z.iso.datetime(),
};

export const cancelAnswerSchema = z.discriminatedUnion("kind", [
  /** Ended as `cancelled`, or as `failed` if an earlier request may have taken effect. */
  z.object({
    kind: z.literal("stopped"),
    ...howItEnded,
    /** Tasks that a follow-task no longer follows; they continue at the provider. */
    unfollowed: z.array(z.string()).optional(),
  }),
  /** A request is in flight; its result is known within `waitMs`. */
  z.object({ kind: z.literal("under-way"), waitMs: z.int() }),
  /** The provider works on these tasks. */
  z.object({ kind: z.literal("following"), taskIds: z.array(z.string()) }),
  /** The command had ended before. */
  z.object({ kind: z.literal("ended"), ...howItEnded }),
]);

export type CancelAnswer = z.output<typeof cancelAnswerSchema>;

/** An operator's verdict on a command with an unknown outcome. */
export const verdictSchema = z.strictObject({
  /** Whether the request took effect. */
  applied: z.boolean(),
  note: z
    .string()
    .transform((text) => text.replaceAll(/\s+/g, " ").trim())
    .pipe(
      z
        .string()
        .min(1)
        .max(500)
        .regex(/^[^\p{Cc}\p{Surrogate}]*$/u, { error: "plain text" }),
    )
    .optional(),
});

export type Verdict = z.output<typeof verdictSchema>;

const kept = {
  applied: z.boolean(),
  resolvedAt: z.iso.datetime(),
  note: z.string().optional(),
};

export const resolveAnswerSchema = z.discriminatedUnion("kind", [
  /** The verdict is recorded, by this call or an earlier one. */
  z.object({ kind: z.literal("resolved"), ...kept }),
  /** A different verdict was recorded earlier, and is final. */
  z.object({ kind: z.literal("resolved-otherwise"), ...kept }),
  /** The command ended with a known outcome. */
  z.object({
    kind: z.literal("known"),
    status: z.enum(["succeeded", "failed", "cancelled"]),
    reason: z.string().optional(),
  }),
  z.object({ kind: z.literal("open"), status: z.string() }),
]);

export type ResolveAnswer = z.output<typeof resolveAnswerSchema>;

/** `commands`: number of released commands. */
export const liftAnswerSchema = z.discriminatedUnion("kind", [
  /** `until`: when the pause would have ended. */
  z.object({ kind: z.literal("lifted"), until: z.iso.datetime(), commands: z.int() }),
  z.object({ kind: z.literal("not-paused"), commands: z.int() }),
]);

export type LiftAnswer = z.output<typeof liftAnswerSchema>;

/** A dead letter with its explanation. Instants are ISO 8601. */
const explanationSchema = z.object({
  messageId: z.string(),
  /** Absent for an event, whose queue has no groups. */
  groupId: z.string().optional(),
  /** When it was sent; for commands in SQS when it became a dead letter. */
  cameAt: z.string(),
  receiveCount: z.int(),
  bytes: z.int(),
  /** Queue of a redrive: that of commands, or that of events for intake. */
  queue: z.enum(["commands", "requests"]),
  kind: z.enum(["forged", "ignored", "reaction", "request", "resume", "unreadable"]),
  /** Why it is a dead letter, as far as it is known now: `reason`, or the state of its command in a word. */
  diagnosis: z.string(),
  /** Description of the message. */
  what: z.string(),
  /** Fields of its command, as far as the message has them. */
  sender: z.string().optional(),
  commandId: z.string().optional(),
  operation: z.string().optional(),
  account: z.string().optional(),
  lane: z.string().optional(),
  /** Status in the ledger; absent if the command is not there. */
  status: z.string().optional(),
  endedAt: z.string().optional(),
  /** State of its command. */
  standing: z.string(),
  /** Reason of the rejection that a redrive would cause. */
  reason: z.string().optional(),
  problems: z.array(z.object({ path: z.string(), rule: z.string() })).optional(),
  /** Effect of a redrive. */
  redrive: z.string(),
  /** Whether the ledger may have forgotten its command; then it is never sent back. */
  mayRunTwice: z.boolean(),
  /** Recommended action; `mend`: remove the cause first. */
  advice: z.enum(["delete", "mend", "redrive"]),
  /** Loss by a deletion; only the loss of a command needs `--force`. */
  deletingLoses: z.enum(["command", "nothing", "rejection"]),
  /** The request without secrets; of an invalid one only the names of its fields. */
  content: z.custom<JsonValue>((value) => value !== undefined).optional(),
});

export type Explanation = z.output<typeof explanationSchema>;

export const deadLetterListSchema = z.object({
  deadLetters: z.array(explanationSchema),
  /** Approximate number of further dead letters: held by other readers, or above the limit. */
  more: z.int(),
});

export type DeadLetterList = z.output<typeof deadLetterListSchema>;

export const deadLetterOutcomeSchema = z.object({
  messageId: z.string(),
  /** `kept`: not touched; `in-both`: sent back, and still among the dead letters. */
  outcome: z.enum([
    ...["deleted", "failed", "in-both", "kept", "not-found", "sent-back"],
    /** Of a preview. */
    ...["would-delete", "would-send-back"],
  ] as const),
  /** Description of the message. */
  what: z.string().optional(),
  /** The effect, or the reason for no effect. */
  why: z.string().optional(),
});

export type DeadLetterOutcome = z.output<typeof deadLetterOutcomeSchema>;

export const deadLetterPreviewSchema = z.object({
  outcomes: z.array(deadLetterOutcomeSchema),
  /** ISO 8601: dead letters that arrive after it are not in the preview. */
  until: z.string(),
});

export type DeadLetterPreview = z.output<typeof deadLetterPreviewSchema>;

const problemSchema = z.object({ path: z.string(), rule: z.string() });

const ruleOutcomeSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("no-match"),
    rule: z.string(),
    /** Fields of the event that do not match; `bus` for an event on the other bus. */
    unfit: z.array(z.string()),
  }),
  z.object({ kind: z.literal("command"), rule: z.string(), commandId: z.string() }),
  z.object({
    kind: z.literal("rejected"),
    rule: z.string(),
    commandId: z.string().optional(),
    reason: z.string(),
    problems: z.array(problemSchema),
  }),
]);

/** Outcome of a rule for an event. `rule` is the name of a reaction, or the detail-type of a request. */
export type RuleOutcome = z.output<typeof ruleOutcomeSchema>;

/** JSON response to a put event. */
export const putAnswerSchema = z.object({
  id: z.string(),
  /** AWS account of the event, and so the sender of its commands. */
  account: z.string(),
  rules: z.array(ruleOutcomeSchema),
});

export type PutAnswer = z.output<typeof putAnswerSchema>;

/** The run or stage behind a console, and what its operator can do there. */
const sessionSchema = z.object({
  kind: z.enum(["local", "stage"]),
  /** Name of the stage; `local` for a local run. */
  name: z.string(),
  version: z.string(),
  /** Skyhook's own AWS account: the sender of commands without another one. */
  sender: z.string(),
  /** Accounts at the provider, by name; empty where they are unknown. */
  accounts: z.array(z.string()),
  /** Read capacity units that this console has consumed since its start; absent for a local run. */
  readUnits: z.number().optional(),
  /** False for a console that refuses every change. */
  allowsChanges: z.boolean(),
  /** Optional parts that this run or stage has; see `Admin`. */
  features: z.array(z.string()),
});

export type Session = z.output<typeof sessionSchema>;
