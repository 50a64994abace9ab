import { Hono } from "hono";
import * as z from "zod";
import type { Admin } from "../admin/admin.ts";
import { deadLetterFilterSchema } from "../admin/dead-letter-selection.ts";
import { parsedBody, parsedQuery } from "./request.ts";

const allSchema = z
  .strictObject({ all: z.literal(true) })
  .transform(() => ({ kind: "all" }) as const);

const chosen = {
  ids: z.array(z.string().min(1)).min(1).max(1_000).optional(),
  matching: deadLetterFilterSchema.optional(),
};

/** Either ids or filters, as a selection. */
const selectionOf = (
  { ids, matching }: z.output<z.ZodObject<typeof chosen>>,
  context: z.RefinementCtx,
) => {
  if (ids && !matching) return { kind: "ids", ids } as const;
  if (matching && !ids) return { kind: "matching", filter: matching } as const;
  context.addIssue({ code: "custom", message: "needs either ids or matching" });
  return z.NEVER;
};

const redriveSchema = z.union([allSchema, z.strictObject(chosen).transform(selectionOf)]);

const deleteSchema = z
  .strictObject({ ...chosen, force: z.boolean() })
  .transform(({ force, ...rest }, context) => ({ selection: selectionOf(rest, context), force }));

const WRONG =
  "the body must be a JSON object with ids, a list of 1 to 1,000 message ids of dead letters, or with matching, an object with queue, reason, since or until";

/** The query of the preview of a deletion: `force`, and the fields of a filter. */
const deletePreviewQuery = z
  .looseObject({ force: z.enum(["true", "false"]).default("false") })
  .transform(({ force, ...filter }) => ({ isForced: force === "true", filter }))
  .pipe(z.object({ isForced: z.boolean(), filter: deadLetterFilterSchema }));

/** A preview is a read. In SQS it still hides the messages that it reads for a minute, as the list does. */
export const createDeadLetterRoutes = ({ deadLetters }: Admin): Hono => {
  const app = new Hono();
  app.get("/", async (context) => context.json(await deadLetters.list()));
  app.get("/redrive/preview", async (context) => {
    const filter = parsedQuery(context, deadLetterFilterSchema);
    return context.json(await deadLetters.previewRedrive(filter));
  });
  app.get("/delete/preview", async (context) => {
    const { filter, isForced } = parsedQuery(context, deletePreviewQuery);
    return context.json(await deadLetters.previewRemove(filter, isForced));
  });
  app.post("/redrive", async (context) => {
    const selection = await parsedBody(context, redriveSchema, WRONG);
    return context.json(await deadLetters.redrive(selection), 202);
  });
  app.post("/delete", async (context) => {
    const { selection, force } = await parsedBody(context, deleteSchema, WRONG);
    return context.json(await deadLetters.remove(selection, force), 202);
  });
  return app;
};
