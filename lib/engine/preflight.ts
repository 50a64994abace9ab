import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { getFloatingIpTag, getNetworkTag, type tagSchema } from "../contract/tags.ts";
import { clipped } from "../events/event.ts";
import type { Account } from "../provider/accounts.ts";
import { requestTarget } from "../provider/client.ts";
import { ProviderError, problemsOfError } from "../provider/provider-error.ts";
import { pauseAfterWaitMs } from "../provider/retrying-client.ts";
import type { Command, CommandRequestBody, SeenTag } from "./command.ts";
import type { WouldSend } from "./command-events.ts";
import { cancel, fail, leaveUnknown, succeed } from "./command-events.ts";
import { waitBeforeSending } from "./command-transitions.ts";
import type { CommandDeps } from "./deps.ts";
import { type Guard, guardSchema } from "./request.ts";

type Tag = z.output<typeof tagSchema>;

/** What the guards of a command say at this moment. */
type GuardReport =
  | { readonly kind: "holds" }
  | {
      readonly kind: "broken";
      readonly rule: string;
      /** Which guard, from 0. */
      readonly index: number;
      /** The tag as it was seen; null when there is none. */
      readonly tag: SeenTag | null;
    }
  | { readonly kind: "unreadable"; readonly index: number; readonly error: ProviderError };

const readTag = (
  { client }: Account,
  { floating_ip, network, key }: Guard,
  signal: AbortSignal,
): Promise<Tag> => {
  const query = { key };
  if (floating_ip) {
    return client.call(getFloatingIpTag, { params: floating_ip, query, body: undefined }, signal);
  }
  const params = z.parse(getNetworkTag.params, network);
  return client.call(getNetworkTag, { params, query, body: undefined }, signal);
};

/** The rule that the guard makes of the tag's value, or undefined when it holds. */
const brokenRule = (guard: Guard, value: string | undefined): string | undefined => {
  const isBroken =
    guard.equals !== undefined
      ? value !== guard.equals
      : guard.not !== undefined
        ? value === guard.not
        : (value === undefined) !== (guard.absent === true);
  if (!isBroken) return undefined;
  if (guard.equals !== undefined) return `must be ${JSON.stringify(guard.equals)}`;
  if (guard.not !== undefined) return `must not be ${JSON.stringify(guard.not)}`;
  return guard.absent ? "must not be there" : "must be there";
};

/** A resource that is not there has no tags: the provider answers both with 404. */
const tagOf = async (account: Account, guard: Guard, signal: AbortSignal): Promise<Tag | null> => {
  try {
    return await readTag(account, guard, signal);
  } catch (error) {
    if (error instanceof ProviderError && error.code === "not-found") return null;
    throw error;
  }
};

/** Reads the tags that the command depends on, up to the first that does not hold. */
const checkGuards = async (
  account: Account,
  command: Command,
  signal: AbortSignal,
): Promise<GuardReport> => {
  for (const [index, stored] of (command.guards ?? []).entries()) {
    const guard = z.parse(guardSchema, stored);
    try {
      const tag = await tagOf(account, guard, signal);
      const rule = brokenRule(guard, tag?.value);
      if (rule === undefined) continue;
      const seen = tag && {
        key: clipped(tag.key),
        value: clipped(tag.value),
        read_only: tag.read_only,
      };
      return { kind: "broken", index, rule: `tag ${guard.key} ${rule}`, tag: seen };
    } catch (error) {
      if (error instanceof ProviderError) return { kind: "unreadable", index, error };
      throw error;
    }
  }
  return { kind: "holds" };
};

const REDACTED = "[redacted]";

/** Secrets are fields of the body by now; what else they may become is left out all the same. */
const withoutSecrets = (operation: Mutation, body: unknown): unknown => {
  const fields = z.record(z.string(), z.unknown()).safeParse(body).data;
  if (!fields) return body;
  const secret = new Set<string>(operation.secrets ?? []);
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      secret.has(`body.${name}`) ? REDACTED : value,
    ]),
  );
};

/**
 * The request of a command as it would be sent.
 * @param path the template that the account's provider answers to
 */
const wouldSend = (operation: Mutation, path: string, request: CommandRequestBody): WouldSend => {
  const body = z.encode<z.ZodType>(operation.body, request.body);
  return {
    method: operation.method,
    path: requestTarget(operation, path, request),
    ...(body !== undefined && { body: withoutSecrets(operation, body) }),
  };
};

interface HoldContext {
  readonly deps: CommandDeps;
  readonly account: Account;
  readonly request: CommandRequestBody;
  readonly operation: Mutation;
  readonly signal: AbortSignal;
}

/** A tag that cannot be read now decides nothing, unless it never can be. */
const afterUnreadable = (
  { deps }: HoldContext,
  command: Command,
  index: number,
  error: ProviderError,
): Command => {
  const now = deps.clock.now();
  if (error.disposition === "permanent") {
    const [problem, ...fields] = problemsOfError(error, `guards.${index}`);
    // Whatever was sent before may have been done.
    return command.uncertain
      ? leaveUnknown(command, { now, problem, fields })
      : fail(command, { now, reason: "refused", problems: [problem, ...fields] });
  }
  const pause = error.retryAfterMs || pauseAfterWaitMs(now - command.acceptedAt, deps.random);
  return waitBeforeSending(command, Math.min(now + pause, command.deadline), error.code);
};

const afterBroken = (
  { deps }: HoldContext,
  command: Command,
  { index, rule, tag }: Extract<GuardReport, { kind: "broken" }>,
): Command => {
  const now = deps.clock.now();
  const path = `guards.${index}`;
  if (!command.uncertain) {
    return cancel(command, { now, reason: "guard", problems: [{ path, rule }], tag });
  }
  // It may have been done already, so nobody may read that it was not.
  return leaveUnknown(command, { now, problem: { path, rule } });
};

/** How many requests come now: the guards', and that of the command itself. */
const requestsAhead = ({ operation }: HoldContext, { guards = [], dryRun }: Command): number =>
  guards.length + (operation.follows || dryRun ? 0 : 1);

/**
 * Has the turns of all requests that come now, or none: guards that were read in vain would have to
 * be read again, and many commands would keep each other from ever sending.
 */
const awaitTurns = async (context: HoldContext, command: Command): Promise<Command | undefined> => {
  const turns = requestsAhead(context, command);
  if (turns === 0) return undefined;
  const readiness = await context.account.ready(context.signal, turns);
  if (readiness.kind === "ready") return undefined;
  const until = Math.min(readiness.until, command.deadline);
  return waitBeforeSending(command, until, readiness.because);
};

/** What becomes of a command that must not send now; undefined when it may. */
export const heldBack = async (
  context: HoldContext,
  command: Command,
): Promise<Command | undefined> => {
  const waiting = await awaitTurns(context, command);
  if (waiting) return waiting;
  const { deps, account, operation, request, signal } = context;
  const report = await checkGuards(account, command, signal);
  switch (report.kind) {
    case "unreadable":
      return afterUnreadable(context, command, report.index, report.error);
    case "broken":
      return afterBroken(context, command, report);
    case "holds":
      return command.dryRun
        ? succeed(command, {
            now: deps.clock.now(),
            outcome: "dry-run",
            wouldSend: wouldSend(operation, account.pathOf(operation), request),
          })
        : undefined;
    default:
      return report satisfies never;
  }
};
