import type { JsonObject } from "../platform/ports/ledger.ts";

/** Another team's AWS account, which may resume instances of one project. */
export const DEMO_TEAM = "111122223333";
/** An AWS account of the same organization, to which nothing is allowed. */
export const DEMO_STRANGER = "444455556666";

export const DEMO_REACTION = "resume-when-paid";
const NETWORK = "c2f1b7de-64a5-4d0e-8f7b-1e2d3c4b5a60";

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

/** What the billing team's system tells, in its own words. */
export const DEMO_EVENT = {
  source: "billing",
  "detail-type": "InvoicePaid",
  detail: {
    invoice: "2026-0042",
    project: 1186668,
    region: 148,
    instance: "6c6aa80f-7836-4dc2-a2ae-125e248be478",
  } satisfies JsonObject,
} as const;

/** The same in every run: with a data directory, a second run is a redelivery and runs nothing again. */
export const DEMO_EVENT_ID = "demo-invoice-paid";
