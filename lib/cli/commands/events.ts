import type { EventFilter, StreamedEvent, StreamItem } from "../../admin/event-stream.ts";
import { LOCAL_SENDER } from "../../local/local-sender.ts";
import type { Clock } from "../../platform/ports/clock.ts";
import { createGatewayClient, type EventsAsked } from "../admin/gateway.ts";
import { runAddress } from "../endpoint.ts";
import { eventLine, incomingLine } from "../event-line.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import type { Columns } from "../layout.ts";
import { jsonLine, printLine, printNote, visibleText } from "../render.ts";
import { stopSignal } from "../stop-signal.ts";
import {
  addExamples,
  checkedStage,
  type DeclareVerb,
  ending,
  endpointOption,
  stageOption,
  stageRights,
} from "../verb.ts";

interface EventsFlags {
  readonly follow?: boolean;
  readonly type?: readonly string[];
  readonly command?: string;
  readonly recent: string;
  readonly json?: boolean;
  readonly endpoint?: string;
  readonly stage?: string;
}

const RETRY_MS = 2_000;
const MAX_RECENT = 1_000;

const lineOf = (streamed: StreamedEvent, columns?: Columns): string => {
  const { type, time, sender = "", commandId = "", event } = streamed;
  if (!event) return visibleText([time, type.padEnd(20), sender, commandId].join("  ").trimEnd());
  const isOwn = event.account === LOCAL_SENDER && streamed.bus === undefined;
  return isOwn ? eventLine(event, columns) : incomingLine(event, columns);
};

/** An event of a local run as EventBridge delivers it; of a stage what the command records. */
const print = (streamed: StreamedEvent, { json }: EventsFlags): Promise<void> =>
  json
    ? printLine(jsonLine(streamed.event ?? streamed))
    : printLine((columns) => lineOf(streamed, columns));

/** @throws ExitError for a wrong number */
const filterOf = ({ type = [], command, recent }: EventsFlags): EventsAsked => {
  if (!/^\d{1,4}$/.test(recent) || Number(recent) > MAX_RECENT) {
    throw new ExitError(EXIT.refused, `--recent: must be a number from 0 to ${MAX_RECENT}`);
  }
  const filter: EventFilter = { types: [...type], ...(command !== undefined && { command }) };
  return { ...filter, recent: Number(recent) };
};

type Follow = (asked: EventsAsked, signal: AbortSignal) => AsyncIterable<StreamItem>;

/**
 * Opens connections. Each has a new client: after a lost one, another run may answer at another address, and then a note
 * says so.
 */
const connections = (flags: EventsFlags, clock: Clock): (() => Promise<Follow>) => {
  let known: string | undefined;
  return async () => {
    if (flags.stage !== undefined) return openStageFollow(flags.stage, clock);
    const address = runAddress(flags.endpoint);
    if (known !== undefined && known !== address.endpoint) {
      printNote(`continues with another Skyhook, at ${address.endpoint}`);
    }
    known = address.endpoint;
    return createGatewayClient(address).events;
  };
};

const openStageFollow = async (stage: string, clock: Clock): Promise<Follow> => {
  const { openStageLedger } = await import("../admin/stage-ledger.ts");
  const { stageCommands } = await import("../admin/stage-commands.ts");
  const { events } = stageCommands(openStageLedger(checkedStage(stage), clock));
  return ({ after, recent, ...filter }, signal) => events.follow({ filter, after, recent, signal });
};

const gapText = (missed: number | undefined): string =>
  missed === undefined ? "events may have been missed" : `${missed} events were missed`;

/** Remembers whether there is a connection, and prints a note when that changes. */
const createLink = () => {
  let state: "new" | "open" | "lost" = "new";
  return {
    open(): void {
      if (state === "lost") printNote("connected again");
      state = "open";
    },
    /** @throws the error, unless it is the loss of a connection that there was */
    lost(error: unknown): void {
      const isLoss = error instanceof ExitError && error.exitCode === EXIT.unreachable;
      if (!isLoss || state === "new") throw error;
      if (state === "open") printNote(`connection lost, tries again: ${error.message}`);
      state = "lost";
    },
  };
};

/** Ids of printed events that are remembered: more than a stage sends again after a lost connection. */
const MAX_REMEMBERED = 5_000;

/** Remembers ids. The function says whether one comes for the first time. */
const createMemory = () => {
  const ids = new Set<string>();
  return (id: string): boolean => {
    if (ids.has(id)) return false;
    ids.add(id);
    for (const oldest of ids) {
      if (ids.size <= MAX_REMEMBERED) break;
      ids.delete(oldest);
    }
    return true;
  };
};

/** Prints events until Ctrl-C. Connects again after a lost connection, and continues where it was. */
export const followEvents = async (
  open: () => Promise<Follow>,
  flags: EventsFlags,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> => {
  let asked = filterOf(flags);
  const link = createLink();
  const isFirst = createMemory();
  const handle = async (item: StreamItem): Promise<void> => {
    link.open();
    if (item.kind === "gap") printNote(gapText(item.missed));
    else asked = { ...asked, after: item.cursor ?? asked.after };
    if (item.kind === "event" && isFirst(item.event.id)) await print(item.event, flags);
  };
  while (!signal.aborted) {
    try {
      for await (const item of (await open())(asked, signal)) await handle(item);
    } catch (error) {
      link.lost(error);
      await clock.sleep(RETRY_MS, signal);
    }
  }
};

const noEventsText = ({ type, command, recent }: EventsFlags): string => {
  if (type !== undefined) return "no event matches; `npx skyhook schema event` lists the types";
  if (command !== undefined) return "no event about this command";
  return recent === "0"
    ? "no earlier event, as asked"
    : "no events yet; --follow waits for the next ones";
};

const events = async (flags: EventsFlags, clock: Clock): Promise<ExitCode> => {
  if (flags.follow) {
    if (flags.stage !== undefined) printNote(STAGE_NOTE);
    const signal = stopSignal(clock);
    await followEvents(connections(flags, clock), flags, { clock, signal });
    return EXIT.ok;
  }
  if (flags.stage !== undefined) {
    throw new ExitError(
      EXIT.refused,
      "--stage: only with --follow; a stage keeps no list of events",
    );
  }
  const found = await createGatewayClient(runAddress(flags.endpoint)).recentEvents(filterOf(flags));
  for (const event of found) await print(event, flags);
  if (found.length === 0) printNote(noEventsText(flags));
  return EXIT.ok;
};

const STAGE_NOTE =
  "EventBridge has no live read: shows what commands record, polled every 5 s. Events of scheduled jobs are missing.";

const DESCRIPTION = `Prints the newest events of a running Skyhook, and with --follow all that come, until Ctrl-C.

A run keeps its newest 1,000 events, up to 8 MiB. Events that others put are shown without their detail, which may hold secrets. After a lost connection --follow continues where it was, and reports events that it missed.

With --stage it needs --follow: EventBridge has no live read, so Skyhook polls every 5 s what commands record. Events of scheduled jobs are missing there. ${stageRights("dynamodb:Query on the indexes due and list of the table skyhook-STAGE-ledger and dynamodb:GetItem on the table")}`;

export const declareEvents: DeclareVerb = (command, { clock }) => {
  addExamples(
    command
      .description(DESCRIPTION)
      .option("--follow", "print events as they come, until Ctrl-C")
      .option("--type <type...>", "only these types; CommandF* accepts every type so beginning")
      .option("--command <id>", "only events about this command")
      .option("--recent <n>", "number of earlier events, up to 1,000", "50")
      .option("--json", "print one JSON object a line")
      .addOption(endpointOption())
      .addOption(stageOption()),
    [
      "npx skyhook events",
      'npx skyhook events --follow --type "Command*" TaskFailed',
      "npx skyhook events --follow --command scale-1 --json",
      "npx skyhook events --follow --stage prod",
    ],
  ).action(ending((flags: EventsFlags) => events(flags, clock)));
};
