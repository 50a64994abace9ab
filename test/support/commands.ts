import { type Command, commands, isEnded } from "../../lib/engine/command.ts";
import { unpublishedEvents } from "../../lib/engine/command-events.ts";
import { lanes } from "../../lib/engine/lane.ts";
import type { Ledger, LedgerItem } from "../../lib/platform/ports/ledger.ts";

/** An accepted command, as in the ledger. @param fields override the defaults */
export const commandOf = (fields: Partial<Command> = {}): Command => ({
  sender: "own",
  id: "c1",
  account: "local",
  operation: "update-container",
  lane: "local/container/1/2/web",
  fingerprint: "f",
  correlationId: "c1",
  causationId: "event-c1",
  acceptedAt: 1_000,
  deadline: 7_201_000,
  params: { project_id: 1, region_id: 2, container_name: "web" },
  request: { params: {}, query: {}, body: { envs: { TOKEN: "hush" } } },
  attempts: [],
  attemptCount: 0,
  lostReplies: 0,
  outbox: [],
  state: { status: "accepted", lookAt: 31_000 },
  ...fields,
});

/** The value that versions before the short form stored: every field, and events as a whole. */
export const wholeValue = (command: Command): LedgerItem["value"] => {
  const { result: _, ...state } = { result: undefined, ...command.state };
  return JSON.parse(JSON.stringify({ ...command, state, outbox: unpublishedEvents(command) }));
};

/** The item as such a version wrote it; an item of another kind stays as it is. */
export const wholeItem = (item: LedgerItem): LedgerItem =>
  item.key.startsWith(`${commands.kind}#`)
    ? { ...item, value: wholeValue(commands.fromItem(item)) }
    : item;

/** Keys of the commands that keep others out of a lane: those in it that have not ended. */
export const openInLane = async (ledger: Ledger, lane: string): Promise<readonly string[]> => {
  const { holder, waiting = [] } = (await lanes.read(ledger, lane))?.value ?? {};
  const ended = holder !== undefined && (await commands.read(ledger, holder));
  const isFree = holder === undefined || (ended && isEnded(ended.value));
  return isFree ? waiting : [holder, ...waiting];
};
