import type { DiagnosisContext } from "../../../lib/admin/diagnosis.ts";
import { explain } from "../../../lib/admin/explanation.ts";
import { requestFingerprint } from "../../../lib/engine/accept.ts";
import { type Command, commandKey, commands } from "../../../lib/engine/command.ts";
import { sealRequest } from "../../../lib/engine/queue-message.ts";
import { readRequest } from "../../../lib/engine/read-request.ts";
import type { DeadLetter } from "../../../lib/platform/ports/dead-letters.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { createAccess } from "../../../lib/provider/access.ts";
import type { AccountsConfig } from "../../../lib/provider/accounts-config.ts";
import { commandOf } from "../../support/commands.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { shared } from "../../support/requests.ts";

export const NOW = Date.UTC(2026, 0, 31, 12);
export const DAY_MS = 24 * 60 * 60 * 1000;
export const KEY = "fingerprint-key";
export const OTHER_TEAM = "111122223333";

/** A dead letter that arrived a minute ago; a text becomes the body unchanged. */
const letterOf = (body: unknown, fields: Partial<DeadLetter> = {}): DeadLetter => ({
  messageId: "m1",
  queue: "commands",
  body: typeof body === "string" ? body : JSON.stringify(body),
  groupId: "g1",
  arrivedAt: NOW - 60_000,
  receiveCount: 10,
  ...fields,
});

export const sealedBy = (sender: string, detail: unknown, key = KEY): string =>
  sealRequest({ sender, eventId: "e1", sentAt: NOW, detail: JSON.stringify(detail) }, key);

/** A diagnosis context in which `rights` apply; `fields` override its values. */
export const contextOf = (
  fields: Partial<DiagnosisContext> = {},
  ledger: Ledger = createMemoryLedger(),
  rights: AccountsConfig = shared(OTHER_TEAM),
): DiagnosisContext => ({
  ledger,
  access: createAccess(rights, "own"),
  ownSender: "own",
  fingerprintKey: KEY,
  reactions: undefined,
  now: NOW,
  ...fields,
});

export const explained = (body: unknown, context = contextOf(), fields: Partial<DeadLetter> = {}) =>
  explain(letterOf(body, fields), context);

export const goingOn: Command["state"] = { status: "waiting" };
export const failed: Command["state"] = {
  status: "failed",
  endedAt: NOW - DAY_MS,
  settled: true,
  reason: "task-failed",
  tasks: [],
};

/** A ledger with the command of this request. */
export const ledgerWith = async (detail: unknown, fields: Partial<Command>): Promise<Ledger> => {
  const ledger = createMemoryLedger();
  const { access } = contextOf();
  if (!access) throw new Error("no rights");
  const read = readRequest(detail, { sender: "own", access });
  if (read.kind === "rejected") throw new Error("no such request");
  const { commandId: id, lane } = read.request;
  const fingerprint = requestFingerprint(read.request, KEY);
  const times = { acceptedAt: NOW - 2 * DAY_MS, deadline: NOW + DAY_MS };
  const command = commandOf({
    id,
    lane,
    fingerprint,
    operation: "update-policy",
    ...times,
    ...fields,
  });
  await commands.write(ledger, commandKey(command), undefined, command);
  return ledger;
};
