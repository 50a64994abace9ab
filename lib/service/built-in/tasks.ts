import type { TaskRecord } from "../state/state.ts";
import { PROJECT_A } from "./places.ts";

/** The one that created the built-in router. */
export const builtInTasks = (): TaskRecord[] => [
  {
    id: "d478ae29-dedc-4869-82f0-96104425f565",
    task_type: "create_router",
    state: "FINISHED",
    created_on: "2025-11-03T08:15:00.000Z",
    updated_on: "2025-11-03T08:15:08.000Z",
    finished_on: "2025-11-03T08:15:08.000Z",
    error: null,
    created_resources: { routers: ["da5b9588-cecc-4111-a318-3ad04da05900"] },
    ...PROJECT_A,
    user_id: 11,
    client_id: 1,
    user_client_id: 1,
    data: { name: "my_wonderful_router" },
    detailed_state: null,
    request_id: null,
    job_id: null,
    lifecycle_policy_id: null,
    schedule_id: null,
    acknowledged_at: null,
    acknowledged_by: null,
    plan: null,
  },
];
