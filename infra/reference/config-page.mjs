/** docs/reference/config.md: every field of the YAML files. */
import { block, fieldTable, GENERATED } from "./fields.mjs";

const INTRO = `${GENERATED}

# Configuration files

This page lists every field of the four YAML files, with type, default and an example. A file may also be JSON. A file
has at most 500,000 bytes, and Skyhook reports every mistake in it at once, with its line. Unknown fields and duplicate
keys are mistakes. \`accounts[].name\` is the field \`name\` of each entry of the list \`accounts\`.

An editor checks a file if its first line names the schema. The examples name it as in the repository; files that
\`skyhook init\` writes name that of the [installed package](../event-contracts.md#editors):

${block("yaml plain", "# yaml-language-server: $schema=schemas/accounts.schema.json")}`;

const ACCOUNTS = `# yaml-language-server: $schema=schemas/accounts.schema.json
accounts:
  - name: main
    base_url: https://api.example.com
    api_key: { parameter: /skyhook/prod/api-key }
    senders:
      - own
      - sender: "111122223333"
        operations: [resume-instance]
        projects: [1234567]
    operations: all
    projects: [1234567, 1186668]
    requests_per_second: 20
    task_path: /cloud/v1/tasks/{task_id}
    pool_path: /cloud/v2/lbpools/{project_id}/{region_id}/{pool_id}
    lists: true
    settle: 5m
    max_pause: 15m
    deadlines: { default: 2h, resume-instance: 10m }
aws_accounts:
  - id: "111122223333"
    bus: arn:aws:events:eu-central-1:111122223333:event-bus/skyhook-events
organization: o-abcde12345`;

const REACTIONS = `# yaml-language-server: $schema=schemas/reactions.schema.json
reactions:
  - name: resume-when-paid
    when:
      source: [billing]
      detail-type: [InvoicePaid]
    key: $.detail.invoice
    account: main
    then:
      operation: resume-instance
      params: { project_id: 1234567, region_id: 76, instance_id: $.detail.instance }
    guards:
      - network: { project_id: 1234567, region_id: 76, network_id: b39792c3-3160-4356-912e-ba396c95cdcf }
        key: cost-center
        equals: platform
    deadline: 30m`;

const THRESHOLDS = `# yaml-language-server: $schema=schemas/thresholds.schema.json
prune: false
thresholds:
  - name: reaching_used_space
    storage_name: my-storage-prod
    bucket_name: photos
    bytes: 500 GiB
  - name: reaching_files_quantity
    bucket_name: photos
    count: 1000000`;

const WATCHLIST = `# yaml-language-server: $schema=schemas/watchlist.schema.json
items:
  - name: web-server
    instance:
      project_id: 1234567
      region_id: 76
      body:
        flavor: g1-standard-2-4
        names: [web-1]
        interfaces: [{ type: external }]
        volumes: [{ source: new-volume, size: 20, type_name: standard }]
  - name: my-cluster
    k8s_cluster: { project_id: 1234567, region_id: 76, cluster_name: my-cluster }
  - name: gpu
    gpu_cluster: { project_id: 1234567, region_id: 76, server_id: f1c1eeb6-1834-48c9-a7b0-daafce64872b }
  - name: ddos
    ddos: { region_id: 76 }`;

const FILES = [
  {
    name: "accounts",
    text: `Accounts at the provider, and the AWS accounts that may use them. A local run reads the file of \`--accounts\`, a
deployment \`infra/accounts.STAGE.yaml\`. [Accounts and reactions](../accounts-and-reactions.md) explains it.`,
    example: ACCOUNTS,
  },
  {
    name: "reactions",
    text: `Rules that turn events into commands. A local run reads the file of \`--reactions\`, a deployment
\`infra/reactions.STAGE.yaml\`. [Accounts and reactions](../accounts-and-reactions.md) explains it, and
[Events](events.md#commandrequested) has the fields of a guard. Paths into the event look like
\`$.detail.items[0]['odd key']\`.`,
    example: REACTIONS,
  },
  {
    name: "thresholds",
    text: `Storage notification thresholds as they should be. A local run reads the file of \`--thresholds\`, a stage the object
\`thresholds.yaml\` in its config bucket. [Scheduled jobs](../scheduled-jobs.md) explains it. A threshold has exactly one
limit: \`bytes\` or \`count\`, by its name.`,
    example: THRESHOLDS,
  },
  {
    name: "watchlist",
    text: `Prices to watch. A local run reads the file of \`--watchlist\`, a stage the object \`watchlist.yaml\` in its config
bucket. [Scheduled jobs](../scheduled-jobs.md) explains it. An item has exactly one of \`instance\`, \`k8s_cluster\`,
\`gpu_cluster\` and \`ddos\`.`,
    example: WATCHLIST,
  },
];

const section = ({ name, text, example }, schema) =>
  [
    `## ${name}.yaml`,
    text,
    block(`yaml ${name}`, example),
    fieldTable(schema, { heading: "Field", required: "required", optional: "optional" }),
  ].join("\n\n");

/**
 * @param schemas JSON Schema of each file by its name: `accounts`, `reactions`, `thresholds`, `watchlist`
 * @returns the page in Markdown
 */
export const configPage = (schemas) =>
  `${[INTRO, ...FILES.map((file) => section(file, schemas[file.name]))].join("\n\n")}\n`;
