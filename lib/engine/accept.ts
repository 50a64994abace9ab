import * as z from "zod";
import type { Problem } from "../contract/problem.ts";
import type { Known, Stored } from "../ledger/record.ts";
import { MAX_DEADLINE_MS, MAX_REQUEST_AGE_MS } from "../ledger/retention.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import { CHECK_AGAIN_MS, type Command, commandKey, commands } from "./command.ts";
import { findLoop } from "./dependencies.ts";
import type { CommandDeps } from "./deps.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { isFull, type Lane, lanes, MAX_WAITING } from "./lane.ts";
import type { CommandRequest, RejectionReason } from "./request.ts";

const jsonRecord = z.record(z.string(), z.json());

export type Acceptance =
  | {
      readonly kind: "accepted";
      readonly stored: Stored<Command>;
      /** Its lane, if that was read. */
      readonly lane?: Known<Lane>;
    }
  | {
      readonly kind: "rejected";
      readonly reason: RejectionReason;
      readonly problems: readonly Problem[];
    };

type Refused = Extract<Acceptance, { kind: "rejected" }>;

const rejected = (reason: RejectionReason, path: string, rule: string): Refused => ({
  kind: "rejected",
  reason,
  problems: [{ path, rule }],
});

/** Keyed hash of a request: equal for a repeat, different for another request under the same id. */
export const requestFingerprint = (request: CommandRequest, key: string): string =>
  fingerprintOf(
    {
      operation: request.operation.id,
      account: request.account,
      request: request.request,
      deadline: request.deadline,
      // Absent rather than empty, so that fingerprints of older requests stay valid.
      ...conditionsOf(request),
    },
    key,
  );

const conditionsOf = ({ after, guards, dryRun }: CommandRequest) => ({
  ...(after.length > 0 && { after: [...after] }),
  ...(guards.length > 0 && { guards: guards.map((guard) => jsonRecord.parse(guard)) }),
  ...(dryRun && { dryRun }),
});

const newCommand = (deps: CommandDeps, request: CommandRequest, now: number): Command => ({
  sender: request.sender,
  id: request.commandId,
  account: request.account,
  operation: request.operation.id,
  lane: request.lane,
  fingerprint: requestFingerprint(request, deps.fingerprintKey),
  correlationId: request.correlationId,
  causationId: request.eventId,
  acceptedAt: now,
  deadline: request.deadline ?? now + deps.access.deadlineMs(request.account, request.operation.id),
  params: request.request.params,
  request: request.request,
  ...conditionsOf(request),
  attempts: [],
  attemptCount: 0,
  lostReplies: 0,
  outbox: ["CommandAccepted"],
  state: { status: "accepted", lookAt: now + CHECK_AGAIN_MS },
});

/** A new command is within all limits. `lane` is its lane, if that was read. */
interface Allowed {
  readonly kind: "allowed";
  readonly lane?: Known<Lane>;
}

/**
 * Checks the limits of a new command. A repeat needs no check: it is the command of the first request.
 * @param now epoch ms
 */
export const checkLimits = async (
  ledger: Ledger,
  request: CommandRequest,
  now: number,
): Promise<Refused | Allowed> => {
  const { askedAt, deadline } = request;
  if (askedAt !== undefined && askedAt < now - MAX_REQUEST_AGE_MS) {
    return rejected(
      "too-old",
      "metadata.time",
      "must be at most 30 days ago; to run an older request, send it again with a new time",
    );
  }
  if (askedAt !== undefined && askedAt > now + MAX_REQUEST_AGE_MS) {
    // With a time further ahead, a replay would be accepted after the ledger has deleted the command.
    const rule = "must be at most 30 days ahead";
    return rejected("invalid", "metadata.time", rule);
  }
  if (deadline !== undefined && deadline <= now) {
    return rejected("too-late", "deadline", "must be in the future");
  }
  if (deadline !== undefined && deadline > now + MAX_DEADLINE_MS) {
    return rejected("invalid", "deadline", "must be at most 7 days ahead");
  }
  const loop = await findLoop(ledger, request);
  if (loop) return rejected("invalid", "after", loop);
  // A command that waits for others enters the lane later, when there may be room.
  if (request.after.length > 0) return { kind: "allowed" };
  const lane = await lanes.read(ledger, request.lane);
  return isFull(lane?.value)
    ? rejected(
        "lane-full",
        "",
        `${MAX_WAITING} commands already wait for this resource; send again later`,
      )
    : { kind: "allowed", lane: lane ?? "absent" };
};

/** Creates the command of a request within its limits. `exists`: there is a command with its id. */
const createCommand = async (
  deps: CommandDeps,
  request: CommandRequest,
): Promise<Acceptance | { readonly kind: "exists" }> => {
  const now = deps.clock.now();
  const limits = await checkLimits(deps.ledger, request, now);
  if (limits.kind === "rejected") return limits;
  const command = newCommand(deps, request, now);
  const stored = await commands.write(deps.ledger, commandKey(command), undefined, command);
  if (!stored) return { kind: "exists" };
  deps.log.info("command accepted");
  const { lane } = limits;
  return { kind: "accepted", stored, ...(lane && { lane }) };
};

/**
 * Creates the command of a request in the ledger, or finds the command that an earlier delivery created.
 * Rejects the request if its id belongs to a command with another payload.
 */
export const acceptRequest = async (
  deps: CommandDeps,
  request: CommandRequest,
): Promise<Acceptance> => {
  const failed = (error: unknown) => ({ kind: "failed", error }) as const;
  const created = await createCommand(deps, request).catch(failed);
  if (created.kind === "accepted") return created;
  // Read only now, because most requests are new. Limits and failures do not matter for a repeat.
  const key = commandKey({ sender: request.sender, id: request.commandId });
  const known = await commands.read(deps.ledger, key);
  if (known) {
    return known.value.fingerprint === requestFingerprint(request, deps.fingerprintKey)
      ? { kind: "accepted", stored: known }
      : rejected(
          "id-reused",
          "metadata.commandId",
          "already used by a command with another payload; send under a new id",
        );
  }
  if (created.kind === "failed") throw created.error;
  // If the store has just deleted the command, the request is a new one.
  return created.kind === "rejected" ? created : acceptRequest(deps, request);
};
