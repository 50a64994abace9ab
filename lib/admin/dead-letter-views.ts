import * as z from "zod";
import type { JsonValue } from "../platform/ports/ledger.ts";

/** A dead letter as people and scripts look at it. Instants are ISO 8601. */
const explanationSchema = z.object({
  messageId: z.string(),
  /** Absent for an event, whose queue has no groups. */
  groupId: z.string().optional(),
  /** When it was sent; for commands in SQS when it became a dead letter. */
  cameAt: z.string(),
  receiveCount: z.int(),
  bytes: z.int(),
  kind: z.enum(["forged", "ignored", "reaction", "request", "resume", "unreadable"]),
  /** What it is, in words. */
  what: z.string(),
  /** The command that it is, or would be; as far as it shows. */
  sender: z.string().optional(),
  commandId: z.string().optional(),
  operation: z.string().optional(),
  account: z.string().optional(),
  lane: z.string().optional(),
  /** Of that command in the ledger; absent when it is not there. */
  status: z.string().optional(),
  endedAt: z.string().optional(),
  /** How it stands now, in words. */
  standing: z.string(),
  /** Why it would be rejected. */
  reason: z.string().optional(),
  problems: z.array(z.object({ path: z.string(), rule: z.string() })).optional(),
  /** What sending it back would do, in words. */
  redrive: z.string(),
  /** It may have run so long ago that the ledger has forgotten it; so it is never sent back. */
  mayRunTwice: z.boolean(),
  /** What makes sense; `mend`: something else first, or it comes back or is lost. */
  advice: z.enum(["delete", "mend", "redrive"]),
  /** What is lost when it is deleted; only the loss of a command has to be forced. */
  deletingLoses: z.enum(["command", "nothing", "rejection"]),
  /** What a request says, secrets left out; of one that is not valid only the names of its fields. */
  content: z.custom<JsonValue>((value) => value !== undefined).optional(),
});

export type Explanation = z.output<typeof explanationSchema>;

export const deadLetterListSchema = z.object({
  deadLetters: z.array(explanationSchema),
  /** How many there are about that could not be had now, or are beyond the limit. */
  more: z.int(),
});

export type DeadLetterList = z.output<typeof deadLetterListSchema>;

export const letterOutcomeSchema = z.object({
  messageId: z.string(),
  /** `kept`: not touched; `in-both`: sent back, and still among the dead letters. */
  outcome: z.enum(["deleted", "failed", "in-both", "kept", "not-found", "sent-back"]),
  /** What it is, in words. */
  what: z.string().optional(),
  /** What follows, or why not. */
  why: z.string().optional(),
});

export type LetterOutcome = z.output<typeof letterOutcomeSchema>;
