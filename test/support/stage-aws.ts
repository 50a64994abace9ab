import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createDynamodbLedger } from "../../lib/platform/aws/dynamodb-ledger.ts";
import type { Ledger } from "../../lib/platform/ports/ledger.ts";
import { startSkyhook } from "./skyhook-process.ts";
import { openTableServer } from "./table-server.ts";

/** The AWS account of dynalite's tables. */
export const STAGE_ACCOUNT = "000000000000";

/** Environment of the functions of jobs. */
const JOB_SETTINGS = {
  JOB_ACCOUNT: "main",
  CONFIG_BUCKET: "bucket",
  CONFIG_KEY: "thresholds.yaml",
};

/** AWS with the stage `test`, as far as a console calls it: the ledger in dynalite, no queues. */
export interface StageAws {
  readonly ledger: Ledger;
  /** Bodies of PutEvents. */
  readonly put: readonly unknown[];
  /** Starts `skyhook console` for the stage, and waits until it listens. */
  startConsole(...flags: readonly string[]): Promise<{
    readonly pageUrl: string;
    /** Ends it. @returns its exit status */
    stop(): Promise<unknown>;
  }>;
  close(): Promise<void>;
}

export const openStageAws = async (): Promise<StageAws> => {
  const tableName = "skyhook-test-ledger";
  const table = await openTableServer(tableName);
  const client = new DynamoDBClient(table.clientConfig);
  const put: unknown[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    response.setHeader("content-type", "application/x-amz-json-1.1");
    if (request.headers["x-amz-target"] === "AWSEvents.PutEvents") {
      put.push(JSON.parse(body));
      response.end('{"FailedEntryCount":0,"Entries":[{"EventId":"e1"}]}');
    } else if (request.url?.includes("skyhook-test-sync-thresholds")) {
      response.end(JSON.stringify({ Environment: { Variables: JOB_SETTINGS } }));
    } else if (request.url?.includes("thresholds.yaml")) {
      response.end("thresholds: []\n");
    } else {
      response.statusCode = 400;
      response.end('{"__type":"UnrecognizedClientException","message":"no such service"}');
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const environment = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    ...table.environment,
  };
  return {
    ledger: createDynamodbLedger({ client, tableName }),
    put,
    async startConsole(...flags) {
      const args = ["console", "--stage", "test", "--port", "0", ...flags];
      const program = startSkyhook(args, environment);
      await program.printed("End: Ctrl-C");
      return {
        pageUrl: /http:\S+/.exec(program.stdout())?.[0] ?? "",
        stop() {
          program.child.kill("SIGTERM");
          return program.ended();
        },
      };
    },
    async close() {
      client.destroy();
      await table.close();
      server.close();
    },
  };
};
