import { json, type SeenRequest, scriptProvider } from "../../support/provider.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";

export interface ExclusiveProviderOptions {
  readonly clock: VirtualClock;
  /** Duration of a background task. */
  readonly taskMs: number;
  /** Delays a mutation. */
  readonly pause: () => Promise<void>;
}

/**
 * A provider without locks that records every overlap: a mutation of a resource during another mutation of it or
 * its background task. Containers answer with a task, policies at once. The `description` of a container and the
 * `name` of a policy identify the command of a mutation.
 */
export const createExclusiveProvider = ({ clock, taskMs, pause }: ExclusiveProviderOptions) => {
  const overlaps: string[] = [];
  const sent = new Map<string, string[]>();
  const busy = new Map<string, { readonly command: string; readonly until: number }>();
  const taskEnds = new Map<string, number>();

  const enter = (resource: string, command: string): void => {
    const other = busy.get(resource);
    if (other && other.until > clock.now()) overlaps.push(`${command} during ${other.command}`);
    busy.set(resource, { command, until: Number.POSITIVE_INFINITY });
    sent.set(resource, [...(sent.get(resource) ?? []), command]);
  };

  const updateContainer = async ({ target, body }: SeenRequest): Promise<Response> => {
    enter(target, body.description);
    await pause();
    const id = `task-${taskEnds.size + 1}`;
    taskEnds.set(id, clock.now() + taskMs);
    busy.set(target, { command: body.description, until: clock.now() + taskMs });
    return json(200, { tasks: [id] });
  };

  const updatePolicy = async ({ target, body }: SeenRequest): Promise<Response> => {
    enter(target, body.name);
    await pause();
    busy.delete(target);
    const place = { project_id: 1, region_id: 1, user_id: 1, action: "volume_snapshot" };
    return json(200, { id: 1, name: body.name, ...place, status: "active", schedules: [] });
  };

  const getTask = async ({ target }: SeenRequest): Promise<Response> => {
    const id = target.split("/").at(-1) ?? "";
    const isOver = (taskEnds.get(id) ?? Number.POSITIVE_INFINITY) <= clock.now();
    return json(200, { id, state: isOver ? "FINISHED" : "RUNNING" });
  };

  return {
    ...scriptProvider({
      "PATCH /cloud/v1/caas/": updateContainer,
      "PATCH /cloud/v1/lifecycle_policy/": updatePolicy,
      "GET /v1/tasks/": getTask,
    }),
    overlaps,
    /** Command ids by resource, in the order of their mutations. */
    sent: sent as ReadonlyMap<string, readonly string[]>,
  };
};
