import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { getFloatingIpTag, getNetworkTag, type tagSchema } from "../contract/tags.ts";
import { clipped } from "../events/event.ts";
import { type Guard, guardSchema } from "../events/requests.ts";
import type { Account } from "../provider/accounts.ts";
import { requestTarget } from "../provider/client.ts";
import { ProviderError, problemsOfError } from "../provider/provider-error.ts";
import { pauseAfterWaitMs } from "../provider/retrying-client.ts";
import type { Command, SeenTag } from "./command.ts";
import { cancel, giveUp, leaveUnknown, succeed, type WouldSend } from "./command-events.ts";
import { waitBeforeSending } from "./command-transitions.ts";
import type { CommandDeps } from "./deps.ts";
import type { CommandRequestBody } from "./request-body.ts";

/** The context of one attempt at a command. */
export interface AttemptContext {
  readonly deps: CommandDeps;
  readonly account: Account;
  readonly request: CommandRequestBody;
  readonly operation: Mutation;
  readonly signal: AbortSignal;
}

/** The result of one check of a command's guards. */
type GuardReport =
  | { readonly kind: "holds" }
  | {
      readonly kind: "broken";
      readonly rule: string;
      /** Index of the guard, from 0. */
      readonly index: number;
      /** The tag that was read; null when there is none. */
      readonly tag: SeenTag | null;
    }
  | { readonly kind: "unreadable"; readonly index: number; readonly error: ProviderError };

/** The rule that the tag's value breaks; undefined when the guard holds. */
const brokenRule = (
  { equals, not, absent }: Guard,
  value: string | undefined,
): string | undefined => {
  if (equals !== undefined)
    return value === equals ? undefined : `must be ${JSON.stringify(equals)}`;
  if (not !== undefined) return value === not ? `must not be ${JSON.stringify(not)}` : undefined;
  if (absent) return value === undefined ? undefined : "must not exist";
  return value === undefined ? "must exist" : undefined;
};

/** A resource that does not exist has no tags: the provider answers 404 in both cases. */
const tagOf = async (
  { client }: Account,
  { floating_ip, network, key }: Guard,
  signal: AbortSignal,
): Promise<z.output<ReturnType<typeof tagSchema>> | null> => {
  const query = { key };
  try {
    if (floating_ip) {
      const read = { params: floating_ip, query, body: undefined };
      return await client.call(getFloatingIpTag, read, signal);
    }
    const params = z.parse(getNetworkTag.params, network);
    return await client.call(getNetworkTag, { params, query, body: undefined }, signal);
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

/** Every secret is a field of the body. Its value is replaced, whatever its type. */
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

/** The request of a command as it would be sent to the account's provider. */
const wouldSend = ({ account, operation, request }: AttemptContext): WouldSend => {
  const body = z.encode<z.ZodType>(operation.body, request.body);
  return {
    method: operation.method,
    path: requestTarget(operation, account.pathOf(operation), request),
    ...(body !== undefined && { body: withoutSecrets(operation, body) }),
  };
};

/**
 * Lets the command wait for a tag that cannot be read now, and ends it if the tag never can be read.
 */
const afterUnreadable = (
  { deps }: AttemptContext,
  command: Command,
  index: number,
  error: ProviderError,
): Command => {
  const now = deps.clock.now();
  if (error.disposition === "permanent") {
    const [problem, ...fields] = problemsOfError(error, `guards.${index}`);
    return giveUp(command, { now, problem, fields });
  }
  const pause = error.retryAfterMs || pauseAfterWaitMs(now - command.acceptedAt, deps.random);
  return waitBeforeSending(command, Math.min(now + pause, command.deadline), error.code);
};

const afterBroken = (
  { deps }: AttemptContext,
  command: Command,
  { index, rule, tag }: Extract<GuardReport, { kind: "broken" }>,
): Command => {
  const now = deps.clock.now();
  const problem = { path: `guards.${index}`, rule };
  // An earlier send may have taken effect, so no event may say that nothing did.
  return command.uncertain
    ? leaveUnknown(command, { now, problem })
    : cancel(command, { now, reason: "guard", problems: [problem], tag });
};

/**
 * Acquires permits for the guards and the command's own request together, or none. Otherwise guards
 * would be read in vain and again, and many commands could keep each other from ever sending.
 */
const awaitPermits = async (
  { account, operation, signal }: AttemptContext,
  command: Command,
): Promise<Command | undefined> => {
  const { guards = [], dryRun } = command;
  const count = guards.length + (operation.follows || dryRun ? 0 : 1);
  if (count === 0) return undefined;
  const readiness = await account.ready(signal, count);
  return readiness.kind === "ready"
    ? undefined
    : waitBeforeSending(command, Math.min(readiness.until, command.deadline), readiness.because);
};

/**
 * Acquires the permits of a command, then checks its guards. A dry run ends here.
 * @returns the next state of a command that must not send now; undefined when it may send
 */
export const preflight = async (
  context: AttemptContext,
  command: Command,
): Promise<Command | undefined> => {
  const waiting = await awaitPermits(context, command);
  if (waiting) return waiting;
  const { deps, account, signal } = context;
  const report = await checkGuards(account, command, signal);
  if (report.kind === "unreadable") {
    return afterUnreadable(context, command, report.index, report.error);
  }
  if (report.kind === "broken") return afterBroken(context, command, report);
  return command.dryRun
    ? succeed(command, {
        now: deps.clock.now(),
        outcome: "dry-run",
        wouldSend: wouldSend(context),
      })
    : undefined;
};
