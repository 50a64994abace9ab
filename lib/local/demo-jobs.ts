import type { State } from "../service/state/state.ts";
import { builtInState } from "../service/state/state.ts";

/** How long after the start of the embedded service the prices change and an AI task ends. */
export const DEMO_CHANGE_MS = 8_000;

export const DEMO_AI_TASK = "aafe70c6-0000-4000-8000-327b65f76799";

/** What is priced in the demo; dearer by a tenth after the change. */
export const DEMO_PRICE_ITEM = "web-server";
const DEMO_FLAVOR = "g1-standard-2-4";
const DEMO_PRICE_AFTER = 0.044;

export const DEMO_WATCHLIST = `# What Skyhook prices on schedule.
items:
  - name: ${DEMO_PRICE_ITEM}
    instance:
      project_id: 1234567
      region_id: 76
      body:
        flavor: ${DEMO_FLAVOR}
        names: [web-1]
        interfaces: [{ type: external }]
        volumes: [{ source: image, size: 50, type_name: standard }]
  - name: my-cluster
    k8s_cluster: { project_id: 1234567, region_id: 76, cluster_name: my-cluster }
  - name: my-gpu-server
    gpu_cluster:
      { project_id: 1234567, region_id: 76, server_id: f1c1eeb6-1834-48c9-a7b0-daafce64872b }
  - name: ddos
    ddos: { region_id: 76 }
`;

/** The first text of the demo's thresholds file, and the one that it is edited to. */
export const DEMO_THRESHOLDS = `# Edit this file: the provider's notification thresholds follow.
prune: false
thresholds:
  - name: reaching_used_space
    bucket_name: demo-photos
    bytes: 500 GiB
  - name: reaching_files_quantity
    bucket_name: demo-photos
    count: 1000000
`;
export const DEMO_THRESHOLDS_EDITED = `${DEMO_THRESHOLDS.replace("500 GiB", "750 GiB")}\
  - name: reaching_used_traffic
    bucket_name: demo-photos
    bytes: 18446744073709551615
`;

const demoAiTask = (at: number): State["ai_tasks"][number] => {
  const now = new Date(at).toISOString();
  return {
    client_id: 1,
    task_id: DEMO_AI_TASK,
    task_name: "transcription",
    task_data: { task_name: "transcription", url: "https://example.com/talk.mp4" },
    status: "STARTED",
    progress: 10,
    date_created: now,
    started_at: now,
    plan: [{ after_seconds: DEMO_CHANGE_MS / 1000, status: "SUCCESS", progress: 100 }],
    plan_from: now,
  };
};

/** The built-in state with something that happens: prices that change, an AI task that ends. */
export const demoState = (at: number): State => {
  const state = builtInState();
  const dearer = state.prices
    .filter(({ region_id }) => region_id === 76)
    .map((list) => ({
      ...list,
      starts_at: new Date(at + DEMO_CHANGE_MS).toISOString(),
      flavors: { ...list.flavors, [DEMO_FLAVOR]: DEMO_PRICE_AFTER },
    }));
  return {
    ...state,
    prices: [...state.prices, ...dearer],
    ai_tasks: [...state.ai_tasks, demoAiTask(at)],
  };
};
