import * as z from "zod";
import type { Verdict } from "../../admin/answers.ts";
import type {
  DeadLetterFilter,
  DeleteSelection,
  Selection,
} from "../../admin/dead-letter-selection.ts";
import type { EventFilter, StreamItem } from "../../admin/event-stream.ts";
import type { JobName } from "../../admin/job-run.ts";
import type { BoundedQuery, BulkQuery, ListQuery } from "../../admin/list-query.ts";
import { lazy } from "../../contract/lazy.ts";
import type { RunAddress } from "../endpoint.ts";
import { EXIT, ExitError } from "../exit-code.ts";
import type { RequestState } from "../request-schema.ts";
import {
  accepted,
  answerIn,
  ask,
  post,
  read,
  refusalSchema,
  streamed,
  type Target,
} from "./run-requests.ts";

/** Time that a job may take longer than its function. */
const JOB_SLACK_MS = 10_000;

/** What to read of the stream of events. */
export interface EventsAsked extends EventFilter {
  readonly recent: number;
  readonly after?: string | undefined;
}

/*
 * Schemas of answers, loaded when a verb asks: building those of all verbs takes as long as a request.
 */
const ofList = () => import("../../admin/list-query.ts");
const ofRequests = () => import("../request-schema.ts");
const ofActions = () => import("../../admin/answers.ts");
const ofBulkActions = () => import("../../admin/bulk-cancel.ts");
const ofEvents = () => import("../../admin/event-stream.ts");
const ofJobs = () => import("../../admin/job-run.ts");
const ofPrices = () => import("../../jobs/prices/memory.ts");

const selectionBody = (selection: Selection) => {
  if (selection.kind === "all") return { all: true };
  return selection.kind === "ids" ? { ids: selection.ids } : { matching: selection.filter };
};

const kindSchema = lazy(() => z.looseObject({ kind: z.enum(["command", "rejected"]) }));

/** A segment of a path. @throws ExitError for `.` and `..`, which would lead to another path */
const segmentOf = (name: string): string => {
  if (/^\.{1,2}$/.test(name)) throw new ExitError(EXIT.refused, `nothing has the name ${name}`);
  return encodeURIComponent(name);
};

const NO_SUCH_COMMAND = "no such command";

/**
 * A client of the running Skyhook at an address. Every method throws an ExitError when Skyhook does not answer
 * or refuses the request, and returns undefined for an unknown command, account or price.
 * @param sender AWS account of the commands; default: Skyhook's own
 */
export const createGatewayClient = ({ endpoint, token }: RunAddress, sender?: string) => {
  const at = (path: string, query: Readonly<Record<string, string | undefined>> = {}): Target => {
    const url = new URL(path, endpoint);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    return { url, token };
  };
  const ofCommand = (commandId: string, action = "", event?: string): Target =>
    at(`/commands/${segmentOf(commandId)}${action}`, { sender, event });
  const eventsAt = (path: string, { types, command, recent, after }: EventsAsked): Target => {
    const target = at(path, { command, after, recent: String(recent) });
    for (const type of types) target.url.searchParams.append("type", type);
    return target;
  };
  return {
    send: (detail: unknown) => accepted(at("/commands"), detail, z.unknown()),
    async put(event: unknown) {
      const { putAnswerSchema } = await ofActions();
      return accepted(at("/events"), event, putAnswerSchema);
    },
    /** The state of a command. @param of with `eventId`: the rejection of that event's request, if there is one */
    async look(
      commandId: string,
      of: { readonly eventId?: string; readonly signal?: AbortSignal } = {},
    ) {
      const { requestStateSchema } = await ofRequests();
      const target = ofCommand(commandId, "", of.eventId);
      const answer = await ask(target, { signal: of.signal });
      return answerIn(answer, target, requestStateSchema, NO_SUCH_COMMAND);
    },
    /** `accepted`, or the state of a rejected request; undefined while neither is known. */
    async answerTo(
      { commandId, eventId }: { readonly commandId: string; readonly eventId: string },
      signal: AbortSignal,
    ): Promise<"accepted" | RequestState | undefined> {
      const target = ofCommand(commandId, "", eventId);
      const answer = await ask(target, { signal });
      // The schema of a whole command takes longer to build than the request takes.
      const state = answerIn(answer, target, kindSchema(), NO_SUCH_COMMAND);
      if (state?.kind !== "rejected") return state && "accepted";
      const { requestStateSchema } = await ofRequests();
      return requestStateSchema.parse(state);
    },
    async cancel(commandId: string, from = sender) {
      const { cancelAnswerSchema } = await ofActions();
      const target = at(`/commands/${segmentOf(commandId)}/cancel`, { sender: from });
      return answerIn(await post(target, {}), target, cancelAnswerSchema, NO_SUCH_COMMAND);
    },
    async previewCancel(query: BulkQuery) {
      const { bulkPageSchema } = await ofBulkActions();
      return read(at("/commands/cancel/preview", query), bulkPageSchema);
    },
    async cancelMatching(query: BoundedQuery) {
      const { bulkPageSchema } = await ofBulkActions();
      return accepted(at("/commands/cancel"), query, bulkPageSchema);
    },
    async resolve(commandId: string, verdict: Verdict) {
      const { resolveAnswerSchema } = await ofActions();
      const target = ofCommand(commandId, "/resolve");
      return answerIn(await post(target, verdict), target, resolveAnswerSchema, NO_SUCH_COMMAND);
    },
    async liftPause(account: string) {
      const { liftAnswerSchema } = await ofActions();
      const target = at(`/accounts/${segmentOf(account)}/lift-pause`);
      return answerIn(await post(target, {}), target, liftAnswerSchema, "no such account");
    },
    async list({ limit, ...filters }: ListQuery) {
      const { listPageSchema } = await ofList();
      return read(at("/commands", { ...filters, limit: String(limit) }), listPageSchema());
    },
    /** The newest events, the oldest first. */
    async recentEvents(asked: EventsAsked) {
      const { streamedEventSchema } = await ofEvents();
      return read(eventsAt("/events", asked), z.array(streamedEventSchema));
    },
    /** The newest events and then all that come. */
    async *events(asked: EventsAsked, signal: AbortSignal): AsyncGenerator<StreamItem> {
      const { gapSchema, streamedEventSchema } = await ofEvents();
      const target = eventsAt("/events/stream", asked);
      for await (const { type, id, data } of streamed(target, signal)) {
        if (type === "gap") yield gapSchema.parse(JSON.parse(data));
        else if (type === "error") {
          // The source may answer again, as after a lost connection.
          throw new ExitError(EXIT.unreachable, refusalSchema().parse(JSON.parse(data)).error);
        } else if (type === "idle" || data === "")
          yield { kind: "idle", ...(id !== "" && { cursor: id }) };
        else {
          const event = streamedEventSchema.parse(JSON.parse(data));
          yield { kind: "event", cursor: id, event };
        }
      }
    },
    /** Resolves when the job has ended. */
    async runJob(name: JobName) {
      const { jobRunSchema } = await ofJobs();
      const { timeoutMsOf } = await import("../../platform/deployment.ts");
      return accepted(at(`/jobs/${name}/run`), {}, jobRunSchema, timeoutMsOf(name) + JOB_SLACK_MS);
    },
    prices: {
      async list() {
        const { priceViewSchema } = await ofPrices();
        return read(at("/prices"), z.array(priceViewSchema));
      },
      async history(name: string) {
        const { readingViewSchema } = await ofPrices();
        const target = at(`/prices/${segmentOf(name)}`);
        return answerIn(await ask(target), target, z.array(readingViewSchema), "no such price");
      },
      async changes(since: number) {
        const { priceChangeViewSchema } = await ofPrices();
        const target = at("/price-changes", { since: new Date(since).toISOString() });
        return read(target, z.array(priceChangeViewSchema));
      },
    },
    deadLetters: {
      async list() {
        const { deadLetterListSchema } = await ofActions();
        return read(at("/dead-letters"), deadLetterListSchema);
      },
      async redrive(selection: Selection) {
        const { deadLetterOutcomeSchema } = await ofActions();
        const body = selectionBody(selection);
        return accepted(at("/dead-letters/redrive"), body, z.array(deadLetterOutcomeSchema));
      },
      async remove(selection: DeleteSelection, force: boolean) {
        const { deadLetterOutcomeSchema } = await ofActions();
        const body = { ...selectionBody(selection), force };
        return accepted(at("/dead-letters/delete"), body, z.array(deadLetterOutcomeSchema));
      },
      async previewRedrive(filter: DeadLetterFilter) {
        const { deadLetterPreviewSchema } = await ofActions();
        return read(at("/dead-letters/redrive/preview", filter), deadLetterPreviewSchema);
      },
      async previewRemove(filter: DeadLetterFilter, force: boolean) {
        const { deadLetterPreviewSchema } = await ofActions();
        const query = { ...filter, force: String(force) };
        return read(at("/dead-letters/delete/preview", query), deadLetterPreviewSchema);
      },
    },
  };
};

export type GatewayClient = ReturnType<typeof createGatewayClient>;
