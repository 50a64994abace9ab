import { type Context, Hono } from "hono";
import * as z from "zod";
import { verdictSchema } from "../admin/answers.ts";
import {
  type DeadLetterDeps,
  deleteDeadLetters,
  listDeadLetters,
  redriveDeadLetters,
} from "../admin/dead-letters.ts";
import { listCommands, listQuerySchema } from "../admin/list.ts";
import { cancelCommand, liftPause, resolveCommand } from "../admin/operator-actions.ts";
import { type RequestView, readState } from "../admin/status.ts";
import { parseJson } from "../contract/json.ts";
import { type Problem, problemsOf } from "../contract/problem.ts";
import { commandKey, commands, isEnded } from "../engine/command.ts";
import { type CommandDeps, depsFor, errorFields } from "../engine/deps.ts";
import { finishCommand } from "../engine/finish.ts";
import { listPrices, priceChanges, priceHistory } from "../jobs/prices/memory.ts";
import { readText } from "../provider/client.ts";
import { type HttpApp, type ServedService, serve } from "../service/serve.ts";
import type { Automation } from "./automation.ts";
import { LOCAL_SENDER } from "./aws-events.ts";
import { PutRefused } from "./event-routes.ts";
import { JOB_NAMES } from "./job-run.ts";
import { type PutAnswer, readPut } from "./put-request.ts";

const MAX_BODY_BYTES = 256 * 1024;

const refuse = (
  context: Context,
  status: 400 | 403 | 404 | 413 | 415 | 500,
  error: string,
): Response => context.json({ error }, status);

/**
 * Reads the body of a request that changes something. The content type protects against forms of web pages,
 * which a browser could send to this address.
 * @returns the body, or the response that refuses it
 */
const readBody = async (context: Context): Promise<string | Response> => {
  if (!context.req.header("content-type")?.startsWith("application/json")) {
    return refuse(context, 415, "content-type must be application/json");
  }
  const tooLarge = () => refuse(context, 413, "the body is larger than 256 KiB");
  // Answers before it reads the body, while the sender still reads the response.
  if (Number(context.req.header("content-length")) > MAX_BODY_BYTES) return tooLarge();
  const { text, isWhole } = await readText(context.req.raw, MAX_BODY_BYTES);
  if (!isWhole) return tooLarge();
  return text === "" ? refuse(context, 400, "the body is empty; send a JSON object") : text;
};

/**
 * Hands over the lane and publishes the event of a command that an operator has just ended. After a failure, the
 * poller does both.
 */
const finish = async (deps: CommandDeps, key: string): Promise<void> => {
  const command = (await commands.read(deps.ledger, key))?.value;
  if (!command || !isEnded(command) || command.state.settled) return;
  const own = depsFor(deps, command);
  try {
    await finishCommand(own, command);
  } catch (error) {
    own.log.warn("end not finished, the poller continues it", errorFields(error));
  }
};

/** An operator's actions on a command: `POST /:id/cancel` and `POST /:id/resolve`. */
export const createOperatorRoutes = (deps: CommandDeps): Hono => {
  const app = new Hono();
  const answer = async (context: Context, key: string, made: object | undefined) => {
    if (!made) return refuse(context, 404, "no such command");
    await finish(deps, key);
    return context.json(made, 202);
  };
  const keyOf = (context: Context, id: string): string =>
    commandKey({ sender: context.req.query("sender") ?? LOCAL_SENDER, id });

  app.post("/:id/cancel", async (context) => {
    const body = await readBody(context);
    if (typeof body !== "string") return body;
    const key = keyOf(context, context.req.param("id"));
    return answer(context, key, await cancelCommand(deps, key));
  });
  app.post("/:id/resolve", async (context) => {
    const body = await readBody(context);
    if (typeof body !== "string") return body;
    const verdict = verdictSchema.safeParse(parseJson(body));
    if (!verdict.success)
      return refuse(
        context,
        400,
        "the body must be a JSON object with applied (true or false) and an optional short note",
      );
    const key = keyOf(context, context.req.param("id"));
    return answer(context, key, await resolveCommand(deps, key, verdict.data));
  });
  return app;
};

const ids = z.array(z.string().min(1)).min(1).max(1_000);

const redriveSchema = z.union([
  z.strictObject({ all: z.literal(true) }).transform(() => ({ kind: "all" }) as const),
  z.strictObject({ ids }).transform(({ ids }) => ({ kind: "ids", ids }) as const),
]);

const deleteSchema = z.strictObject({ ids, force: z.boolean() });

const deadLetterDepsOf = (automation: Automation): DeadLetterDeps => ({
  deadLetters: automation.deadLetters,
  context: () => {
    const { deps, reactions } = automation;
    const { ledger, access, ownSender, fingerprintKey, clock } = deps;
    return { ledger, access, ownSender, fingerprintKey, reactions, now: clock.now() };
  },
});

const parsed = <S extends z.ZodType>(schema: S, text: string): z.output<S> | undefined =>
  schema.safeParse(parseJson(text)).data;

/** Lists, redrives and deletes the dead letters of a local run. */
const createDeadLetterRoutes = (automation: Automation): Hono => {
  const app = new Hono();
  const letters = deadLetterDepsOf(automation);
  const invalid = (context: Context) =>
    refuse(
      context,
      400,
      "the body must be a JSON object with ids, a list of 1 to 1,000 message ids of dead letters",
    );

  app.get("/", async (context) => context.json(await listDeadLetters(letters)));
  app.post("/redrive", async (context) => {
    const body = await readBody(context);
    if (typeof body !== "string") return body;
    const selection = parsed(redriveSchema, body);
    if (!selection) return invalid(context);
    return context.json(await redriveDeadLetters(letters, selection), 202);
  });
  app.post("/delete", async (context) => {
    const body = await readBody(context);
    if (typeof body !== "string") return body;
    const asked = parsed(deleteSchema, body);
    if (!asked) return invalid(context);
    return context.json(await deleteDeadLetters(letters, asked.ids, asked.force), 202);
  });
  return app;
};

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

/** State of a request to this gateway. */
type SentRequest =
  | RequestView
  | ({ readonly kind: "rejected" } & z.output<typeof rejectedEventSchema>["data"]);

const rememberRejections = ({ bus }: Automation): ReadonlyMap<string, SentRequest> => {
  const rejections = new Map<string, SentRequest>();
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

interface RequestQuery {
  /** AWS account of the command's sender; absent: Skyhook's own. */
  readonly sender: string | undefined;
  /** Event id of the request, if several requests have the same command id. */
  readonly eventId: string | undefined;
}

/**
 * Reads the state of a request. The command under its id may belong to another request. Only after the
 * request is handled, its rejection shows which.
 */
const stateOf = async (
  automation: Automation,
  rejections: ReadonlyMap<string, SentRequest>,
  id: string,
  { sender = LOCAL_SENDER, eventId }: RequestQuery,
): Promise<SentRequest | undefined> => {
  const { deps, bus } = automation;
  const key = commandKey({ sender, id });
  const stored = eventId === undefined ? undefined : await commands.read(deps.ledger, key);
  if (eventId !== undefined && stored?.value.causationId !== eventId) {
    if (automation.isQueued(eventId)) return undefined;
    await bus.delivered();
    const rejection = rejections.get(eventId);
    if (rejection) return rejection;
  }
  return readState(deps.ledger, { sender, id, now: deps.clock.now() }, eventId);
};

const problemsText = (problems: readonly Problem[]): string =>
  problems.map(({ path, rule }) => (path === "" ? rule : `${path}: ${rule}`)).join("; ");

const createApp = (automation: Automation): Hono => {
  const { deps, jobAccount } = automation;
  const rejections = rememberRejections(automation);
  const app = new Hono();
  app.post("/commands", async (context) => {
    const body = await readBody(context);
    if (typeof body !== "string") return body;
    const outcome = await automation.send(body);
    if (outcome.kind === "refused") return refuse(context, 400, problemsText(outcome.problems));
    const { commandId, eventId } = outcome;
    return context.json({ commandId, eventId }, 202);
  });
  app.post("/events", async (context) => {
    const body = await readBody(context);
    if (typeof body !== "string") return body;
    const put = readPut(body);
    if (put.kind === "invalid") {
      return refuse(context, 400, problemsText(put.problems));
    }
    try {
      const { routes } = automation;
      const event = await routes.put(put.event, put.onDefaultBus);
      const rules = routes.outcomesOf(event, put.onDefaultBus);
      const answer: PutAnswer = { id: event.id, account: event.account, rules: [...rules] };
      return context.json(answer, 202);
    } catch (error) {
      if (error instanceof PutRefused) return refuse(context, 403, error.message);
      throw error;
    }
  });
  app.get("/commands", async (context) => {
    const query = listQuerySchema.safeParse(context.req.query());
    return query.success
      ? context.json(await listCommands(deps.ledger, query.data, deps.clock.now()))
      : refuse(context, 400, problemsText(problemsOf(query.error.issues)));
  });
  app.get("/commands/:id", async (context) => {
    const { id } = context.req.param();
    const { event: eventId, sender } = context.req.query();
    const state = await stateOf(automation, rejections, id, { eventId, sender });
    return state ? context.json(state) : refuse(context, 404, "no such command");
  });
  app.route("/commands", createOperatorRoutes(deps));
  app.post("/accounts/:name/lift-pause", async (context) => {
    const body = await readBody(context);
    if (typeof body !== "string") return body;
    const answer = await liftPause(deps, context.req.param("name"));
    if (!answer) return refuse(context, 404, "no such account");
    await deps.waker.wakeAt(deps.clock.now());
    return context.json(answer, 202);
  });
  app.post("/jobs/:name/run", async (context) => {
    const body = await readBody(context);
    if (typeof body !== "string") return body;
    const name = JOB_NAMES.find((job) => job === context.req.param("name"));
    return name === undefined
      ? refuse(context, 404, "no such job")
      : context.json(await automation.runJob(name), 202);
  });
  app.route("/dead-letters", createDeadLetterRoutes(automation));
  app.get("/prices", async (context) =>
    context.json(await listPrices(deps.ledger, jobAccount.name)),
  );
  app.get("/prices/:name", async (context) => {
    const history = await priceHistory(deps.ledger, jobAccount.name, context.req.param("name"));
    return history ? context.json(history) : refuse(context, 404, "no such price");
  });
  app.get("/price-changes", async (context) => {
    const since = Date.parse(context.req.query("since") ?? "");
    if (Number.isNaN(since))
      return refuse(context, 400, "since: must be a time such as 2026-01-31T12:00:00Z");
    return context.json(await priceChanges(deps.ledger, jobAccount.name, since));
  });
  app.notFound((context) => refuse(context, 404, "no such path"));
  app.onError((error, context) => {
    deps.log.error("request not answered", { errorMessage: error.message });
    return refuse(context, 500, "internal error of Skyhook; its log has the details");
  });
  return app;
};

const DEFAULT_PORT = 4747;
/** Ports to try; if all are taken, any free port is used. */
const DEFAULT_PORTS = 100;

const isTaken = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EADDRINUSE";

/** Serves at the first free default port. */
const serveAtDefault = async (app: HttpApp): Promise<ServedService> => {
  for (let port = DEFAULT_PORT; port < DEFAULT_PORT + DEFAULT_PORTS; port++) {
    try {
      return await serve(app, port);
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
  return serve(app, 0);
};

/**
 * Opens the HTTP interface of a local run for the `skyhook` command: requests, events, states and operator
 * actions. Listens on 127.0.0.1 only.
 * @param port 0 for any free port; absent: 4747, or the next free port
 * @throws Error when the given port is taken
 */
export const openGateway = (automation: Automation, port?: number): Promise<ServedService> => {
  const routes = createApp(automation);
  const app: HttpApp = {
    fetch: async (request) => routes.fetch(request),
    refuseHost: () =>
      Response.json({ error: "the Host header must be a local address" }, { status: 403 }),
    refuseUnreadable: () =>
      Response.json({ error: "not a readable HTTP request" }, { status: 400 }),
  };
  return port === undefined ? serveAtDefault(app) : serve(app, port);
};
