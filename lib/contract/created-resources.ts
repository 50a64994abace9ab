import * as z from "zod";
import { lazy } from "./lazy.ts";

/** Ids of the resources that a task created, by kind. Replies may contain unknown kinds. */
export const createdResourcesSchema = lazy(() =>
  z.record(z.string(), z.array(z.union([z.string(), z.int()])).nullable()),
);
