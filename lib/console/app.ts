import { type Context, Hono } from "hono";
import * as z from "zod";
import { version } from "../../package.json";
import { type Admin, Refusal } from "../admin/admin.ts";
import { aiTasksQuerySchema } from "../admin/ai-tasks-view.ts";
import { verdictSchema } from "../admin/answers.ts";
import { createForms } from "../admin/forms.ts";
import { JOB_NAMES } from "../admin/job-run.ts";
import { boundedQuerySchema, bulkQuerySchema, listQuerySchema } from "../admin/list-query.ts";
import type { ProviderView } from "../admin/provider-view.ts";
import { TIME_SPAN, TIME_SPAN_RULE, timeSpanMs } from "../contract/time-span.ts";
import type { Log } from "../platform/ports/log.ts";
import { guard } from "./auth.ts";
import { createDeadLetterRoutes } from "./dead-letter-routes.ts";
import { createEventRoutes } from "./event-routes.ts";
import { bodyOf, found, parsedBody, parsedQuery } from "./request.ts";

export interface ConsoleOptions {
  readonly admin: Admin;
  /** Every request needs it; see `guard`. */
  readonly token: string;
  /** False: every change is refused. */
  readonly allowsChanges: boolean;
  /** Reads a file of the page; undefined: there is none. */
  readonly readAsset: (name: string) => Promise<string | undefined>;
  readonly log: Log;
  /** Turns an error that the operator can act on into a refusal with its message. */
  readonly refusalOf?: (error: Error) => Refusal | undefined;
}

const NO_VERDICT =
  "the body must be a JSON object with applied (true or false) and an optional short note";

/** A preview is a read: `GET /commands/cancel/preview`, then `POST /commands/cancel` with its `until`. */
const createBulkCancelRoutes = ({ bulkCancel }: Admin): Hono => {
  const app = new Hono();
  app.get("/preview", async (context) =>
    context.json(await bulkCancel.preview(parsedQuery(context, bulkQuerySchema()))),
  );
  app.post("/", async (context) => {
    const query = await parsedBody(context, boundedQuerySchema());
    return context.json(await bulkCancel.apply(query), 202);
  });
  return app;
};

const createCommandRoutes = (admin: Admin): Hono => {
  const app = new Hono();
  const nameIn = ({ req }: Context) => ({
    id: req.param("id") ?? "",
    sender: req.query("sender"),
  });
  app.get("/", async (context) => {
    return context.json(await admin.list(parsedQuery(context, listQuerySchema())));
  });
  if (admin.send) {
    const { send } = admin;
    app.post("/", async (context) => context.json(await send(await bodyOf(context)), 202));
  }
  app.route("/cancel", createBulkCancelRoutes(admin));
  if (admin.check) {
    const { check } = admin;
    app.post("/check", async (context) => context.json(await check(await bodyOf(context))));
  }
  app.get("/:id", async (context) => {
    const state = await admin.look(nameIn(context), context.req.query("event"));
    return context.json(found(state, "command"));
  });
  app.post("/:id/cancel", async (context) => {
    await bodyOf(context);
    return context.json(found(await admin.cancel(nameIn(context)), "command"), 202);
  });
  app.post("/:id/resolve", async (context) => {
    const verdict = await parsedBody(context, verdictSchema, NO_VERDICT);
    return context.json(found(await admin.resolve(nameIn(context), verdict), "command"), 202);
  });
  return app;
};

const createPriceRoutes = ({ prices }: Admin): Hono => {
  const app = new Hono();
  app.get("/prices", async (context) => context.json(await prices.list()));
  app.get("/prices/:name", async (context) => {
    const history = await prices.history(context.req.param("name"));
    return context.json(found(history, "price"));
  });
  app.get("/price-changes", async (context) => {
    const since = Date.parse(context.req.query("since") ?? "");
    if (Number.isNaN(since)) {
      throw new Refusal(400, "since: must be a time such as 2026-01-31T12:00:00Z");
    }
    return context.json(await prices.changes(since, context.req.query("name")));
  });
  app.get("/price-totals", async (context) => context.json(await prices.totals()));
  return app;
};

/** What the scheduled jobs have recorded, besides prices. */
const createJobRoutes = ({ thresholds, aiTasks }: Admin): Hono => {
  const app = new Hono();
  if (thresholds) app.get("/thresholds", async (context) => context.json(await thresholds()));
  if (aiTasks) {
    app.get("/ai-tasks", async (context) => {
      const query = parsedQuery(context, aiTasksQuerySchema);
      return context.json(await aiTasks(query));
    });
  }
  return app;
};

/** `offset`: number of records before the page. */
const recordsQuerySchema = z.strictObject({ offset: z.coerce.number().int().min(0).default(0) });

const ruleSchema = z.strictObject({ rule: z.string().max(500) });

const advanceSchema = z.strictObject({
  by: z.string().regex(TIME_SPAN, { error: TIME_SPAN_RULE }),
});

/** The faults and the clock of the embedded service. */
const createControlRoutes = (provider: ProviderView): Hono => {
  const app = new Hono();
  app.get("/faults", async (context) => context.json(await provider.faults()));
  app.post("/faults", async (context) => {
    const { rule } = await parsedBody(context, ruleSchema);
    return context.json(await provider.addFault(rule), 202);
  });
  app.post("/faults/:id/remove", async (context) => {
    await bodyOf(context);
    const left = await provider.removeFault(context.req.param("id"));
    return context.json(found(left, "fault"), 202);
  });
  app.get("/clock", async (context) => context.json(await provider.clock()));
  app.post("/clock/advance", async (context) => {
    const { by } = await parsedBody(context, advanceSchema);
    return context.json(await provider.advanceClock(timeSpanMs(by)), 202);
  });
  app.post("/clock/freeze", async (context) => {
    await bodyOf(context);
    return context.json(await provider.freezeClock(), 202);
  });
  app.post("/clock/resume", async (context) => {
    await bodyOf(context);
    return context.json(await provider.resumeClock(), 202);
  });
  return app;
};

const createProviderRoutes = (provider: ProviderView): Hono => {
  const app = new Hono();
  app.route("/", createControlRoutes(provider));
  app.get("/", async (context) => context.json(await provider.state()));
  app.get("/records/:kind", async (context) => {
    const { offset } = parsedQuery(context, recordsQuerySchema);
    const page = await provider.records(context.req.param("kind"), offset);
    return context.json(found(page, "kind of record"));
  });
  app.get("/tasks", async (context) => context.json(await provider.tasks()));
  app.get("/requests", async (context) => context.json(await provider.requests()));
  return app;
};

/** The page and its files, which the browser gets with the cookie of the page. */
const createPageRoutes = (readAsset: ConsoleOptions["readAsset"]): Hono => {
  const app = new Hono();
  const serveAsset = (name: string, type: string) => async (context: Context) => {
    const text = await readAsset(name);
    if (text === undefined) {
      return context.text("The console is not built: run `node infra/build.mjs cli`.", 500);
    }
    return context.body(text, 200, { "content-type": `${type}; charset=utf-8` });
  };
  app.get("/", serveAsset("index.html", "text/html"));
  app.get("/assets/main.js", serveAsset("main.js", "text/javascript"));
  app.get("/assets/main.css", serveAsset("main.css", "text/css"));
  return app;
};

/** Names of the optional parts that an admin has. */
const featuresOf = (admin: Admin): readonly string[] =>
  Object.entries(admin).flatMap(([name, part]) => (part === undefined ? [] : [name]));

/** The console's page and its JSON interface, which the `skyhook` command uses too. */
export const createConsoleApp = (options: ConsoleOptions): Hono => {
  const { admin, token, allowsChanges, readAsset, log, refusalOf } = options;
  /** What a client gets for an error; only the log has the text of one that is no refusal. */
  const answerTo = (error: Error) => {
    const refusal = error instanceof Refusal ? error : refusalOf?.(error);
    if (refusal) return { status: refusal.status, reason: refusal.message };
    log.error("request not answered", { errorMessage: error.message });
    const reason = "internal error of Skyhook; its log has the details";
    return { status: 500, reason } as const;
  };
  const app = new Hono();
  app.use(guard(token));
  app.use(async ({ req }, next) => {
    if (!allowsChanges && req.method !== "GET" && req.method !== "HEAD") {
      throw new Refusal(403, "this console is read-only; start it again with --allow-changes");
    }
    await next();
  });
  app.route("/", createPageRoutes(readAsset));
  app.get("/session", async (context) => {
    const features = featuresOf(admin);
    return context.json({ ...(await admin.session()), version, allowsChanges, features });
  });
  app.route("/commands", createCommandRoutes(admin));
  app.get("/operations", (context) => context.json(createForms()));
  app.get("/open", async (context) => context.json(await admin.open()));
  app.post("/accounts/:name/lift-pause", async (context) => {
    await bodyOf(context);
    return context.json(found(await admin.liftPause(context.req.param("name")), "account"), 202);
  });
  if (admin.task) {
    const { task } = admin;
    app.get("/tasks/:account/:id", async (context) => {
      const { account, id } = context.req.param();
      return context.json(found(await task(account, id), "account"));
    });
  }
  if (admin.provider) app.route("/provider", createProviderRoutes(admin.provider));
  if (admin.events) {
    const reasonOf = (error: Error): string => answerTo(error).reason;
    app.route("/events", createEventRoutes(admin.events, reasonOf));
  }
  if (admin.put) {
    const { put } = admin;
    app.post("/events", async (context) => context.json(await put(await bodyOf(context)), 202));
  }
  if (admin.runJob) {
    const { runJob } = admin;
    app.post("/jobs/:name/run", async (context) => {
      await bodyOf(context);
      const name = JOB_NAMES.find((job) => job === context.req.param("name"));
      return context.json(await runJob(found(name, "job")), 202);
    });
  }
  app.route("/dead-letters", createDeadLetterRoutes(admin));
  app.route("/", createPriceRoutes(admin));
  app.route("/", createJobRoutes(admin));
  app.notFound((context) => context.json({ error: "no such path" }, 404));
  app.onError((error, context) => {
    const { status, reason } = answerTo(error);
    return context.json({ error: reason }, status);
  });
  return app;
};
