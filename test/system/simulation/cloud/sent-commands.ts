import * as z from "zod";
import { commandedOperation } from "../../../../lib/contract/operations.ts";
import { type Command, commands } from "../../../../lib/engine/command.ts";
import type { LedgerItem } from "../../../../lib/platform/ports/ledger.ts";
import { buildRequest } from "../../../../lib/provider/client.ts";
import { BASE_URLS } from "../plan/actors.ts";
import type { Caller } from "./observed-ledger.ts";

/** Identifies a request: all requests of a command have the same signature. */
export const signatureOf = (request: Request, body: string): string =>
  `${request.method} ${request.url} ${body}`;

/** Finds the command of a mutation that leaves: the request itself does not name it. */
export interface SentCommands {
  /** Records a command that was written. */
  note(item: LedgerItem): Promise<void>;
  whose(
    signature: string,
    by: Caller,
    items: ReadonlyMap<string, LedgerItem>,
  ): (Pick<Command, "lane"> & { readonly key: string; readonly isLeased: boolean }) | undefined;
}

const PREFIX = `${commands.kind}#`;

export const createSentCommands = (): SentCommands => {
  const bySignature = new Map<string, { readonly key: string; readonly lane: string }[]>();
  const noted = new Set<string>();

  return {
    async note(item) {
      const { key } = item;
      if (!key.startsWith(PREFIX) || noted.has(key)) return;
      const command = commands.fromItem(item);
      if (!command.request) return;
      noted.add(key);
      const operation = commandedOperation(command.operation);
      if (operation.kind !== "mutation") return;
      const { body } = command.request;
      const request = buildRequest(
        operation,
        operation.path,
        {
          ...command.request,
          body: z.decode(operation.body, z.encode<z.ZodType>(operation.body, body)),
        },
        {
          baseUrl: BASE_URLS[command.account] ?? "",
          apiKey: "none",
          signal: new AbortController().signal,
        },
      );
      const signature = signatureOf(request, await request.text());
      const known = bySignature.get(signature) ?? [];
      bySignature.set(signature, [...known, { key: key.slice(PREFIX.length), lane: command.lane }]);
    },
    whose(signature, by, items) {
      const known = bySignature.get(signature) ?? [];
      const isLeased = ({ key }: { readonly key: string }): boolean => {
        const item = items.get(PREFIX + key);
        const state = item && commands.fromItem(item).state;
        const lease = state && "lease" in state ? state.lease : undefined;
        return lease?.by === by.name && (lease.until > by.clock.now() || by.hasJumped());
      };
      const leased = known.find(isLeased);
      const found = leased ?? known.at(-1);
      return found && { ...found, isLeased: leased !== undefined };
    },
  };
};
