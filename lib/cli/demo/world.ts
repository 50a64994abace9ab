import { builtInState, type State } from "../../service/state/state.ts";

/** How long after the start of the embedded service the prices change and an AI task ends. */
export const DEMO_CHANGE_MS = 8_000;

export const DEMO_AI_TASK = "aafe70c6-0000-4000-8000-327b65f76799";

/** An item of the watchlist; a tenth dearer after the change. */
export const DEMO_PRICE_ITEM = "web-server";
const FLAVOR = "g1-standard-2-4";
export const DEMO_PRICE_AFTER = 0.044;

export const DEMO_WATCHLIST = `# What Skyhook prices on schedule.
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

/** Another team's AWS account, which may resume instances of one project. */
export const DEMO_TEAM = "111122223333";
/** An AWS account of the same organization, without any rights. */
export const DEMO_STRANGER = "444455556666";

export const DEMO_ACCOUNTS = `# Who may use which account at the provider. Read again when it changes.
accounts:
  - name: local                          # of the embedded service: no address, no key
    requests_per_second: 1000
    senders:
      - own
      - sender: "${DEMO_TEAM}"             # the billing team's AWS account
        operations: [resume-instance]
        projects: [1186668]
aws_accounts:
  - id: "${DEMO_TEAM}"
    bus: arn:aws:events:us-east-1:${DEMO_TEAM}:event-bus/billing
organization: o-demo123456               # its other AWS accounts may put events, and nothing more
`;

export const DEMO_REACTION = "resume-when-paid";
const NETWORK = "c2f1b7de-64a5-4d0e-8f7b-1e2d3c4b5a60";

export const DEMO_REACTIONS = `# Which events become commands. Read again when it changes.
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

/** An event of the billing team's system, in its own words. */
export const DEMO_EVENT = {
  source: "billing",
  "detail-type": "InvoicePaid",
  detail: { invoice: "2026-0042", project: 1186668, region: 148, instance: PAID_INSTANCE },
} as const;

/** The same in every run: with a data directory, a second run is a redelivery and runs nothing again. */
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

/** The built-in state with changes to come: the prices of region 76 rise, an AI task ends. */
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
