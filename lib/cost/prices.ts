/*
 * List prices of AWS in us-east-1, the default region of serverless.yml, in November 2026, without free tiers, taxes and
 * discounts. Fixed monthly amounts (alarms, the dashboard, idle ticks, empty receives of the event sources), storage,
 * backups, log lines and traffic to the provider are left out.
 */

const DYNAMODB = "https://aws.amazon.com/dynamodb/pricing/on-demand/";
const LAMBDA = "https://aws.amazon.com/lambda/pricing/";
const SQS = "https://aws.amazon.com/sqs/pricing/";
const EVENTBRIDGE = "https://aws.amazon.com/eventbridge/pricing/";

interface Price {
  readonly text: string;
  /** Dollars for a million units. */
  readonly perMillion: number;
  readonly source: string;
}

/** Everything that a command can cost, in units as AWS bills them. */
export const PRICES = {
  tableWrites: { text: "WRU of the table", perMillion: 0.625, source: DYNAMODB },
  dueIndexWrites: { text: "WRU of the due index", perMillion: 0.625, source: DYNAMODB },
  listIndexWrites: { text: "WRU of the list index", perMillion: 0.625, source: DYNAMODB },
  reads: { text: "RRU", perMillion: 0.125, source: DYNAMODB },
  // A request is one send, receive or delete. Up to ten messages share a receive and a delete.
  fifoRequests: { text: "SQS requests, FIFO", perMillion: 0.5, source: SQS },
  standardRequests: { text: "SQS requests, standard", perMillion: 0.4, source: SQS },
  publishes: { text: "published events", perMillion: 1, source: EVENTBRIDGE },
  requestEvents: { text: "request events of senders", perMillion: 1, source: EVENTBRIDGE },
  ticks: { text: "ticks of the schedule", perMillion: 1, source: EVENTBRIDGE },
  invocations: { text: "Lambda invocations", perMillion: 0.2, source: LAMBDA },
  // arm64, first tier: $0.0000133334 for each GB-second.
  gigabyteSeconds: { text: "Lambda GB-seconds, arm64", perMillion: 13.3334, source: LAMBDA },
} as const satisfies Readonly<Record<string, Price>>;

export type Unit = keyof typeof PRICES;
export type Units = Readonly<Record<Unit, number>>;

export const UNITS = Object.keys(PRICES) as readonly Unit[];

/** Dollars for these units. */
export const dollarsOf = (units: Units): number =>
  UNITS.reduce((sum, unit) => sum + (units[unit] * PRICES[unit].perMillion) / 1e6, 0);
