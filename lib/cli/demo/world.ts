import { builtInState, type State } from "../../service/state/state.ts";

/** Time from the start of the embedded service until the prices change and an AI task ends. */
export const DEMO_CHANGE_MS = 8_000;

export const DEMO_AI_TASK = "aafe70c6-0000-4000-8000-327b65f76799";

/** An item of the watchlist. The change raises its price by a tenth. */
export const DEMO_PRICE_ITEM = "web-server";
const FLAVOR = "g1-standard-2-4";
export const DEMO_PRICE_AFTER = 0.044;

export const DEMO_WATCHLIST = `# Items for which Skyhook records prices every hour.
items:
  - name: ${DEMO_PRICE_ITEM}
    instance:
      project_id: 1234567
      region_id: 76
      body:
        flavor: ${FLAVOR}
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

/** The demo's thresholds file, before and after the demo's edit. */
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

/** AWS account of another team, which may resume instances of one project. */
export const DEMO_TEAM = "111122223333";
/** AWS account of the same organization, without rights. */
export const DEMO_STRANGER = "444455556666";

export const DEMO_ACCOUNTS = `# Accounts at the provider, and the senders that may use them. Skyhook reads the file again when it changes.
accounts:
  - name: local                          # the embedded service: no address, no key
    requests_per_second: 1000
    senders:
      - own
      - sender: "${DEMO_TEAM}"             # the billing team's AWS account
        operations: [resume-instance]
        projects: [1186668]
aws_accounts:
  - id: "${DEMO_TEAM}"
    bus: arn:aws:events:us-east-1:${DEMO_TEAM}:event-bus/billing
organization: o-demo123456               # its other AWS accounts may only put events
`;

export const DEMO_REACTION = "resume-when-paid";
const NETWORK = "c2f1b7de-64a5-4d0e-8f7b-1e2d3c4b5a60";

export const DEMO_REACTIONS = `# Rules that turn events into commands. Skyhook reads the file again when it changes.
reactions:
  - name: ${DEMO_REACTION}
    when:
      source: [billing]
      detail-type: [InvoicePaid]
    account: local
    then:
      operation: resume-instance
      params:
        project_id: $.detail.project
        region_id: $.detail.region
        instance_id: $.detail.instance
    guards:
      - network: { project_id: $.detail.project, region_id: $.detail.region, network_id: ${NETWORK} }
        key: cost-center
        equals: platform
    deadline: 10m
`;

const PAID_INSTANCE = "6c6aa80f-7836-4dc2-a2ae-125e248be478";

/** An event of the billing team's system, with the fields of that system. */
export const DEMO_EVENT = {
  source: "billing",
  "detail-type": "InvoicePaid",
  detail: { invoice: "2026-0042", project: 1186668, region: 148, instance: PAID_INSTANCE },
} as const;

/** The same in every run, so that a second run with a data directory is a redelivery. */
export const DEMO_EVENT_ID = "demo-invoice-paid";

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

/** The built-in state with scheduled changes: the prices of region 76 rise, and an AI task ends. */
export const demoState = (at: number): State => {
  const state = builtInState();
  const dearer = state.prices
    .filter(({ region_id }) => region_id === 76)
    .map((list) => ({
      ...list,
      starts_at: new Date(at + DEMO_CHANGE_MS).toISOString(),
      flavors: { ...list.flavors, [FLAVOR]: DEMO_PRICE_AFTER },
    }));
  const { prices, ai_tasks } = state;
  return { ...state, prices: [...prices, ...dearer], ai_tasks: [...ai_tasks, demoAiTask(at)] };
};
