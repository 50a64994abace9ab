import * as z from "zod";

const jsonRecord = z.record(z.string(), z.json());

/** The request in its decoded form; erased when the command ends, because it may hold secrets. */
export const requestSchema = z.object({
  params: jsonRecord,
  query: jsonRecord,
  body: jsonRecord.optional(),
});

export type CommandRequestBody = z.output<typeof requestSchema>;
