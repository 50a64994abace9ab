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
      createdResources: createdResourcesSchema().optional(),
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

/** A fault rule of the embedded service. */
export const providerFaultSchema = z.object({
  id: z.string(),
  /** The rule in the notation of `--fault`. */
  rule: z.string(),
  /** How often it struck. */
  struck: z.int(),
  /** How often it will still strike; absent for a rule without a count. */
  left: z.int().optional(),
});

type ProviderFault = z.output<typeof providerFaultSchema>;

/** The rules of the embedded service, and what a new one can name. */
export const providerFaultsSchema = z.object({
  rules: z.array(providerFaultSchema),
  operations: z.array(z.string()),
  kinds: z.array(z.string()),
});

type ProviderFaults = z.output<typeof providerFaultsSchema>;

/** The time of the embedded service. `aheadMs`: distance to the clock of the machine. */
export const providerClockSchema = z.object({
  now: z.string(),
  frozen: z.boolean(),
  aheadMs: z.number(),
});

type ProviderClock = z.output<typeof providerClockSchema>;

/** A look into the embedded service, and its controls. Holds no key, and no value of `envs` or `pull_secret`. */
export interface ProviderView {
  state(): Promise<ProviderState>;
  /** Undefined for an unknown kind. */
  records(kind: string, offset: number): Promise<ProviderRecords | undefined>;
  tasks(): Promise<ProviderTasks>;
  requests(): Promise<ProviderRequests>;
  faults(): Promise<ProviderFaults>;
  /** @param rule in the notation of `--fault` @throws Refusal for a wrong rule */
  addFault(rule: string): Promise<ProviderFault>;
  /** Undefined for an unknown id. */
  removeFault(id: string): Promise<ProviderFaults | undefined>;
  clock(): Promise<ProviderClock>;
  /** @throws Refusal beyond the year 9999 */
  advanceClock(durationMs: number): Promise<ProviderClock>;
  freezeClock(): Promise<ProviderClock>;
  resumeClock(): Promise<ProviderClock>;
}
