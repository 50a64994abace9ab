import { type Context, Hono } from "hono";
import { verdictSchema } from "../admin/answers.ts";
import { cancelCommand, resolveCommand } from "../admin/operator-actions.ts";
import { parseJson } from "../contract/json.ts";
import { commandKey, commands, isEnded } from "../engine/command.ts";
import type { CommandDeps } from "../engine/deps.ts";
import { depsFor, errorFields } from "../engine/deps.ts";
import { finishCommand } from "../engine/finish.ts";
import { readBody, refuse } from "./gateway-body.ts";
import { LOCAL_SENDER } from "./own-account.ts";

/** The lane and the event of what a person has just written; the poller does what fails here. */
const finish = async (deps: CommandDeps, key: string): Promise<void> => {
  const command = (await commands.read(deps.ledger, key))?.value;
  if (!command || !isEnded(command) || command.state.settled) return;
  const own = depsFor(deps, command);
  try {
    await finishCommand(own, command);
  } catch (error) {
    own.log.warn("end not finished, the poller goes on with it", errorFields(error));
  }
};

/** What a person does about a command: `POST /:id/cancel` and `POST /:id/resolve`. */
export const createPersonRoutes = (deps: CommandDeps): Hono => {
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
    if (!verdict.success) return refuse(context, 400, "not a verdict: applied, and a short note");
    const key = keyOf(context, context.req.param("id"));
    return answer(context, key, await resolveCommand(deps, key, verdict.data));
  });
  return app;
};
