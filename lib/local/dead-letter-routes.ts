import { type Context, Hono } from "hono";
import * as z from "zod";
import {
  type DeadLetterDeps,
  deleteDeadLetters,
  listDeadLetters,
  redriveDeadLetters,
} from "../admin/dead-letters.ts";
import { parseJson } from "../contract/json.ts";
import type { Automation } from "./automation.ts";
import { readBody, refuse } from "./gateway-body.ts";

const ids = z.array(z.string().min(1)).min(1).max(1_000);

const redriveSchema = z.union([
  z.strictObject({ all: z.literal(true) }).transform(() => ({ kind: "all" }) as const),
  z.strictObject({ ids }).transform(({ ids }) => ({ kind: "ids", ids }) as const),
]);

const deleteSchema = z.strictObject({ ids, force: z.boolean() });

const recoveryOf = (automation: Automation): DeadLetterDeps => ({
  deadLetters: automation.deadLetters,
  context: () => {
    const { deps, reactions } = automation;
    const { ledger, access, ownSender, fingerprintKey, clock } = deps;
    return { ledger, access, ownSender, fingerprintKey, reactions, now: clock.now() };
  },
});

const parsed = <S extends z.ZodType>(schema: S, text: string): z.output<S> | undefined =>
  schema.safeParse(parseJson(text)).data;

/** Where a person looks at the dead letters of a local run, and settles them. */
export const createDeadLetterRoutes = (automation: Automation): Hono => {
  const app = new Hono();
  const recovery = recoveryOf(automation);
  const invalid = (context: Context) => refuse(context, 400, "ids: dead letters' message ids");

  app.get("/", async (context) => context.json(await listDeadLetters(recovery)));
  app.post("/redrive", async (context) => {
    const body = await readBody(context);
    if (typeof body !== "string") return body;
    const selection = parsed(redriveSchema, body);
    if (!selection) return invalid(context);
    return context.json(await redriveDeadLetters(recovery, selection), 202);
  });
  app.post("/delete", async (context) => {
    const body = await readBody(context);
    if (typeof body !== "string") return body;
    const asked = parsed(deleteSchema, body);
    if (!asked) return invalid(context);
    return context.json(await deleteDeadLetters(recovery, asked.ids, asked.force), 202);
  });
  return app;
};
