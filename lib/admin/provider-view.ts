import * as z from "zod";
import { createdResourcesSchema } from "../contract/created-resources.ts";

/** Number of records of each kind at the embedded service. */
export const providerStateSchema = z.object({
  baseUrl: z.string(),
  kinds: z.array(z.object({ kind: z.string(), count: z.int() })),
});

type ProviderState = z.output<typeof providerStateSchema>;

/** A page of records of one kind, without secrets. `count`: all records of the kind. */
export const providerRecordsSchema = z.object({
  kind: z.string(),
  count: z.int(),
  rows: z.array(z.record(z.string(), z.json())),
});

type ProviderRecords = z.output<typeof providerRecordsSchema>;

/** The newest 100 tasks, the newest first. `count`: all tasks. */
export const providerTasksSchema = z.object({
  count: z.int(),
  tasks: z.array(
    z.object({
      id: z.string(),
      type: z.string(),
      state: z.string(),
      project: z.int(),
      region: z.int(),
      createdAt: z.string(),
      /** Percent of its duration; absent for a task that never ends. */
      progress: z.int().optional(),
      /** When an open task will end. */
      endsAt: z.string().optional(),
      finishedAt: z.string().optional(),
      error: z.string().optional(),
      createdResources: createdResourcesSchema.optional(),
    }),
  ),
});

type ProviderTasks = z.output<typeof providerTasksSchema>;

/** The newest 200 requests to the service, the newest first. */
export const providerRequestsSchema = z.array(
  z.object({
    /** Counts all requests from 1. */
    number: z.int(),
    time: z.string(),
    method: z.string(),
    /** Without its query. */
    path: z.string(),
    operation: z.string().optional(),
    /** Absent when a fault ended the connection without a reply. */
    status: z.int().optional(),
    durationMs: z.number(),
    requestId: z.string().optional(),
    /** Kind of the fault that struck the request. */
    fault: z.string().optional(),
  }),
);

type ProviderRequests = z.output<typeof providerRequestsSchema>;

/** A look into the embedded service. Holds no key, and no value of `envs` or `pull_secret`. */
export interface ProviderView {
  state(): Promise<ProviderState>;
  /** Undefined for an unknown kind. */
  records(kind: string, offset: number): Promise<ProviderRecords | undefined>;
  tasks(): Promise<ProviderTasks>;
  requests(): Promise<ProviderRequests>;
}
