import * as z from "zod";
import { type Admin, Refusal, type RequestState } from "../admin/admin.ts";
import { viewAiTasks } from "../admin/ai-tasks-view.ts";
import { cancelMatching, previewCancel } from "../admin/bulk-cancel.ts";
import {
  type DeadLetterDeps,
  deleteDeadLetters,
  listDeadLetters,
  previewDelete,
  previewRedrive,
  redriveDeadLetters,
} from "../admin/dead-letters.ts";
import { checkRequest } from "../admin/forms.ts";
import { listCommands } from "../admin/list.ts";
import { readLiveTask } from "../admin/live-task.ts";
import { readOpenWork } from "../admin/open.ts";
import { cancelCommand, liftPause, resolveCommand } from "../admin/operator-actions.ts";
import { readState } from "../admin/status.ts";
import { viewThresholds } from "../admin/thresholds-view.ts";
import { parseJson } from "../contract/json.ts";
import { problemsText } from "../contract/problem.ts";
import { commandKey, commands, isEnded, isEndedByTasks } from "../engine/command.ts";
import { type CommandDeps, depsFor, errorFields } from "../engine/deps.ts";
import { finishCommand } from "../engine/finish.ts";
import { listPrices, priceChanges, priceHistory } from "../jobs/prices/memory.ts";
import { priceTotals } from "../jobs/prices/totals.ts";
import type { Automation } from "./automation.ts";
import { PutRefused } from "./event-routes.ts";
import { createEventStream } from "./event-stream.ts";
import { createFileConfigSource } from "./file-watch.ts";
import { LOCAL_SENDER } from "./local-sender.ts";
import { readPut } from "./put-request.ts";

/** How long an answer waits for the delivery of events that were published before, ms. */
const DELIVERY_MS = 1_000;

/**
 * Hands over the lane and publishes the event of a command that an operator has just ended. After a failure, the
 * poller does both.
 */
const finishEnded = async (deps: CommandDeps, key: string): Promise<void> => {
  const stored = await commands.read(deps.ledger, key);
  if (!stored || !isEnded(stored.value)) return;
  const { state } = stored.value;
  if (state.settled || isEndedByTasks(state)) return;
  const own = depsFor(deps, stored.value);
  try {
    await finishCommand(own, stored);
  } catch (error) {
    own.log.warn("end not finished, the poller continues it", errorFields(error));
  }
};

const deadLetterDepsOf = (automation: Automation): DeadLetterDeps => ({
  deadLetters: automation.deadLetters,
  context: () => {
    const { deps, reactions } = automation;
    const { ledger, access, ownSender, fingerprintKey, clock } = deps;
    return { ledger, access, ownSender, fingerprintKey, reactions, now: clock.now() };
  },
});

/** Rejections in memory, for waiting senders; the ledger records only a limited number an hour. */
const MAX_REJECTIONS = 1_000;

const rejectedEventSchema = z.object({
  metadata: z.object({ causationId: z.string() }),
  data: z.object({
    operation: z.string(),
    reason: z.string(),
    problems: z.array(z.object({ path: z.string(), rule: z.string() })),
  }),
});

const rememberRejections = ({ bus }: Automation): ReadonlyMap<string, RequestState> => {
  const rejections = new Map<string, RequestState>();
  bus.subscribeToOwn(async (event) => {
    if (event["detail-type"] !== "CommandRejected") return;
    // Another sender may have put an event of this type.
    const rejected = rejectedEventSchema.safeParse(event.detail);
    if (!rejected.success) return;
    const { metadata, data } = rejected.data;
    rejections.set(metadata.causationId, { kind: "rejected", ...data });
    const [oldest] = rejections.keys();
    if (rejections.size > MAX_REJECTIONS && oldest !== undefined) rejections.delete(oldest);
  });
  return rejections;
};

/** The admin of a local run. Create it before the run starts, so that it sees every event. */
export const createLocalAdmin = (
  automation: Automation,
): Admin & Required<Pick<Admin, "put" | "send">> => {
  const { deps, bus, jobAccount } = automation;
  const { ledger, clock } = deps;
  const rejections = rememberRejections(automation);
  const letters = deadLetterDepsOf(automation);
  const events = createEventStream({ run: deps.runner, clock });
  bus.subscribeToOwn(async (event) => events.add(event, "own"));
  bus.subscribeToOthers(async (event) => events.add(event, "other"));
  automation.defaultBus.subscribe(async (event) => events.add(event, "default"));
  const keyOf = ({ sender = LOCAL_SENDER, id }: Parameters<Admin["cancel"]>[0]): string =>
    commandKey({ sender, id });
  /** The answer of a change, after the lane and the event of a command that it ended. */
  const finished = async <T>(key: string, answer: T | undefined): Promise<T | undefined> => {
    if (answer !== undefined) await finishEnded(deps, key);
    return answer;
  };
  const cancelByKey = async (key: string) => finished(key, await cancelCommand(deps, key));

  return {
    async session() {
      const accounts = automation.accounts.accounts.map(({ name }) => name);
      return { kind: "local", name: "local", sender: LOCAL_SENDER, accounts };
    },
    list: (query) => listCommands(ledger, query, clock.now()),
    async look({ sender = LOCAL_SENDER, id }, eventId) {
      // The command under the id may belong to another request. Only after the request is handled, its
      // rejection shows which.
      const key = commandKey({ sender, id });
      const stored = eventId === undefined ? undefined : await commands.read(ledger, key);
      if (eventId !== undefined && stored?.value.causationId !== eventId) {
        if (automation.isQueued(eventId)) return undefined;
        // A subscriber that keeps failing must not keep everyone from an answer.
        const waiting = new AbortController();
        await Promise.race([bus.delivered(), clock.sleep(DELIVERY_MS, waiting.signal)]);
        waiting.abort("answered");
        const rejection = rejections.get(eventId);
        if (rejection) return rejection;
      }
      return readState(ledger, { sender, id, now: clock.now() }, eventId);
    },
    open: () => readOpenWork(ledger, clock.now()),
    cancel: (command) => cancelByKey(keyOf(command)),
    bulkCancel: {
      preview: (query) => previewCancel(deps, query),
      apply: (query) => cancelMatching(deps, query, cancelByKey),
    },
    async resolve(command, verdict) {
      const key = keyOf(command);
      return finished(key, await resolveCommand(deps, key, verdict));
    },
    async liftPause(account) {
      const answer = await liftPause(deps, account);
      if (answer) await deps.waker.wakeAt(clock.now(), 0);
      return answer;
    },
    deadLetters: {
      list: () => listDeadLetters(letters),
      redrive: (selection) => redriveDeadLetters(letters, selection),
      remove: (selection, isForced) => deleteDeadLetters(letters, selection, isForced),
      previewRedrive: (filter) => previewRedrive(letters, { kind: "matching", filter }),
      previewRemove: (filter, isForced) =>
        previewDelete(letters, { kind: "matching", filter }, isForced),
    },
    prices: {
      list: () => listPrices(ledger, jobAccount.name),
      history: (item) => priceHistory(ledger, jobAccount.name, item),
      changes: (since, item) => priceChanges(ledger, jobAccount.name, since, item),
      totals: () => priceTotals(ledger, jobAccount.name),
    },
    async thresholds() {
      const { thresholdsFile } = automation.jobs;
      const source =
        thresholdsFile === undefined ? undefined : createFileConfigSource(thresholdsFile);
      return viewThresholds({ ledger, source, account: jobAccount.name, provider: jobAccount });
    },
    aiTasks: (query) => viewAiTasks(ledger, jobAccount.name, query),
    async send(detail) {
      const outcome = await automation.send(detail);
      if (outcome.kind === "refused") throw new Refusal(400, problemsText(outcome.problems));
      return { commandId: outcome.commandId, eventId: outcome.eventId };
    },
    check: async (detail) =>
      checkRequest(parseJson(detail), { sender: LOCAL_SENDER, access: deps.access }),
    task: (account, id) => readLiveTask(deps, { account, id }),
    provider: automation.provider.view,
    events,
    async put(text) {
      const put = readPut(text);
      if (put.kind === "invalid") throw new Refusal(400, problemsText(put.problems));
      const { routes } = automation;
      try {
        const event = await routes.put(put.event, put.onDefaultBus);
        const rules = routes.outcomesOf(event, put.onDefaultBus);
        return { id: event.id, account: event.account, rules: [...rules] };
      } catch (error) {
        if (error instanceof PutRefused) throw new Refusal(403, error.message);
        throw error;
      }
    },
    runJob: (name) => automation.runJob(name),
  };
};
