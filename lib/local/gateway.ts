import { Hono } from "hono";
import * as z from "zod";
import { liftPause } from "../admin/operator-actions.ts";
import { type RequestView, readState } from "../admin/status.ts";
import type { Problem } from "../contract/problem.ts";
import { commandKey, commands } from "../engine/command.ts";
import { listPrices, priceChanges, priceHistory } from "../jobs/prices/memory.ts";
import { type HttpApp, type ServedService, serve } from "../service/serve.ts";
import { createPersonRoutes } from "./admin-routes.ts";
import type { Automation } from "./automation.ts";
import { createDeadLetterRoutes } from "./dead-letter-routes.ts";
import { PutRefused } from "./event-routes.ts";
import { readBody, refuse } from "./gateway-body.ts";
import { JOB_NAMES } from "./job-run.ts";
import { LOCAL_SENDER } from "./own-account.ts";
import { type PutAnswer, readPut } from "./put-request.ts";
import { sendRequest } from "./send-request.ts";

/** The ledger records only so many rejections an hour; senders that wait are answered beyond that. */
const MAX_REJECTIONS = 1_000;

const rejectedEventSchema = z.object({
  metadata: z.object({ causationId: z.string() }),
  data: z.object({
    operation: z.string(),
    reason: z.string(),
    problems: z.array(z.object({ path: z.string(), rule: z.string() })),
  }),
});

/** What became of a request that was sent here. */
type SentRequest =
  | RequestView
  | ({ readonly kind: "rejected" } & z.output<typeof rejectedEventSchema>["data"]);

const rememberRejections = ({ bus }: Automation): ReadonlyMap<string, SentRequest> => {
  const rejections = new Map<string, SentRequest>();
  bus.subscribeToOwn(async (event) => {
    if (event["detail-type"] !== "CommandRejected") return;
    // A person may have put one that is none of ours.
    const rejected = rejectedEventSchema.safeParse(event.detail);
    if (!rejected.success) return;
    const { metadata, data } = rejected.data;
    rejections.set(metadata.causationId, { kind: "rejected", ...data });
    const [oldest] = rejections.keys();
    if (rejections.size > MAX_REJECTIONS && oldest !== undefined) rejections.delete(oldest);
  });
  return rejections;
};

interface Asked {
  /** AWS account whose command it is; absent: our own. */
  readonly sender: string | undefined;
  /** Of the request that is meant, not only the command. */
  readonly eventId: string | undefined;
}

/**
 * What became of a request. A command that has the id may be another one's: that is known when the
 * request has been handled, and has been rejected or not.
 */
const lookUp = async (
  automation: Automation,
  rejections: ReadonlyMap<string, SentRequest>,
  id: string,
  { sender = LOCAL_SENDER, eventId }: Asked,
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
    const outcome = await sendRequest(deps, body);
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
  app.get("/commands/:id", async (context) => {
    const { id } = context.req.param();
    const { event: eventId, sender } = context.req.query();
    const state = await lookUp(automation, rejections, id, { eventId, sender });
    return state ? context.json(state) : refuse(context, 404, "no such command");
  });
  app.route("/commands", createPersonRoutes(deps));
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
    if (Number.isNaN(since)) return refuse(context, 400, "since: an instant in ISO 8601");
    return context.json(await priceChanges(deps.ledger, jobAccount.name, since));
  });
  app.notFound((context) => refuse(context, 404, "no such path"));
  app.onError((error, context) => {
    deps.log.error("request not answered", { errorMessage: error.message });
    return refuse(context, 500, "fault of Skyhook, its log says more");
  });
  return app;
};

const DEFAULT_PORT = 4747;
/** More runs side by side than anyone has; behind them any free port will do. */
const DEFAULT_PORTS = 100;

const isTaken = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EADDRINUSE";

/** Serves at the first default port that is free. */
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
 * Where the `skyhook` command reaches a local run: the command queue's way in, and the ledger's
 * answers. Listens on this machine only.
 * @param port 0 takes any free one; absent: 4747, or the next one that is free
 * @throws Error when the port that was asked for is taken
 */
export const openGateway = (automation: Automation, port?: number): Promise<ServedService> => {
  const routes = createApp(automation);
  const app: HttpApp = {
    fetch: async (request) => routes.fetch(request),
    refuseHost: () => Response.json({ error: "not a local address" }, { status: 403 }),
    refuseUnreadable: () => Response.json({ error: "not a request" }, { status: 400 }),
  };
  return port === undefined ? serveAtDefault(app) : serve(app, port);
};
