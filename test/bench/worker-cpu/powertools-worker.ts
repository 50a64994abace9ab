import { BatchProcessor, EventType, processPartialResponse } from "@aws-lambda-powertools/batch";
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import type { SQSRecord } from "aws-lambda";
import { PLACE } from "../../support/requests.ts";
import { CHANGE, SECRET, serveParts } from "./worker.ts";

/* The same command in a handler of Powertools: batch with partial responses, and idempotency in the same table. */

interface PolicyCommand {
  readonly commandId: string;
  readonly policyId: number;
}

const TIMEOUT_MS = 10_000;
const { PROVIDER_URL = "", TABLE_NAME: tableName = "" } = process.env;

let successes = 0;
const publish = async (_detail: object): Promise<void> => {
  successes += 1;
};

const persistenceStore = new DynamoDBPersistenceLayer({
  tableName,
  keyAttr: "pk",
  expiryAttr: "expiresAt",
});
const config = new IdempotencyConfig({ eventKeyJmesPath: "commandId" });

const changePolicy = makeIdempotent(
  async ({ commandId, policyId }: PolicyCommand) => {
    const path = `/cloud/v1/lifecycle_policy/${PLACE.project_id}/${PLACE.region_id}/${policyId}`;
    const response = await fetch(PROVIDER_URL + path, {
      method: "PATCH",
      headers: { authorization: `apikey ${SECRET}`, "content-type": "application/json" },
      body: JSON.stringify(CHANGE),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`the provider answered ${response.status}`);
    const { status } = (await response.json()) as { readonly status: string };
    await publish({ commandId, status });
    return { commandId, status };
  },
  { persistenceStore, config },
);

const processor = new BatchProcessor(EventType.SQS);
const runRecord = async ({ body }: SQSRecord): Promise<void> => {
  await changePolicy(JSON.parse(body) as PolicyCommand);
};

serveParts({
  handler: (event, context) => {
    config.registerLambdaContext(context);
    return processPartialResponse(event, runRecord, processor, { context });
  },
  bodyOf: (number) => JSON.stringify({ commandId: `c${number}`, policyId: number }),
  successes: () => successes,
});
