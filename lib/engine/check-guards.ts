import * as z from "zod";
import { getFloatingIpTag, getNetworkTag, type tagSchema } from "../contract/tags.ts";
import { clipped } from "../events/event.ts";
import type { Account } from "../provider/accounts.ts";
import { ProviderError } from "../provider/provider-error.ts";
import type { Command, SeenTag } from "./command.ts";
import { type Guard, guardSchema } from "./guard.ts";

type Tag = z.output<typeof tagSchema>;

/** What the guards of a command say at this moment. */
export type GuardReport =
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
export const checkGuards = async (
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
