import {
  type DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  type GetItemCommandInput,
  type GetItemCommandOutput,
  type PutItemCommandInput,
  type PutItemCommandOutput,
  type QueryCommandInput,
  type QueryCommandOutput,
  type ScanCommandInput,
  type ScanCommandOutput,
  type UpdateItemCommandInput,
  type UpdateItemCommandOutput,
} from "@aws-sdk/client-dynamodb";
import { getEndpointFromInstructions } from "@smithy/core/endpoints";
import { HttpRequest, type HttpResponse, loadJsonRpcErrorCode } from "@smithy/core/protocols";
import { isThrottlingError, isTransientError } from "@smithy/core/retry";
import { SignatureV4 } from "@smithy/signature-v4";
import type { RetryErrorInfo, RetryStrategyV2, SdkError } from "@smithy/types";
import { once } from "../lambda/invocation.ts";
import { createSystemClock } from "../system.ts";
import { limited } from "./aws-client.ts";

interface Operations {
  readonly GetItem: readonly [GetItemCommandInput, GetItemCommandOutput];
  readonly PutItem: readonly [PutItemCommandInput, PutItemCommandOutput];
  readonly Query: readonly [QueryCommandInput, QueryCommandOutput];
  readonly Scan: readonly [ScanCommandInput, ScanCommandOutput];
  readonly UpdateItem: readonly [UpdateItemCommandInput, UpdateItemCommandOutput];
}
export type DynamodbOperation = keyof Operations;

type Output<O extends DynamodbOperation> = Omit<Operations[O][1], "$metadata">;

/** Sends one request of an operation, and again after a failure that may pass. */
export type DynamodbCall = <O extends DynamodbOperation>(
  operation: O,
  input: Operations[O][0],
) => Promise<Output<O>>;

export interface DynamodbCallOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** Called with the capacity units of each call that succeeded; absent: DynamoDB does not report them. */
  readonly onConsumed?: ((operation: DynamodbOperation, units: number) => void) | undefined;
}

const SERVICE = "DynamoDB_20120810";
/** From this difference of clocks on, AWS refuses a signature. */
const MAX_SKEW_MS = 4 * 60 * 1_000;
const clock = createSystemClock();

/** A condition that was not met: nothing was written, unless by an earlier attempt of the call. */
export const isFailedCondition = (error: unknown): error is DynamoDBServiceException =>
  error instanceof DynamoDBServiceException && error.name === "ConditionalCheckFailedException";

/** The error of a reply, as the SDK throws it. A reply that is not from DynamoDB may hold any text. */
const errorOf = (
  response: HttpResponse,
  text: string,
  metadata: { readonly attempts: number; readonly clockSkewCorrected?: true },
): DynamoDBServiceException => {
  let body: Partial<Record<string, string>> = {};
  try {
    body = JSON.parse(text) ?? {};
  } catch {
    // The status decides then.
  }
  const { statusCode } = response;
  return new DynamoDBServiceException({
    name: loadJsonRpcErrorCode(response, body) ?? "UnknownError",
    message: body.message ?? body.Message ?? `DynamoDB answered with status ${statusCode}`,
    $fault: statusCode >= 500 ? "server" : "client",
    $metadata: { ...metadata, httpStatusCode: statusCode },
  });
};

/** What the retry strategy needs to know of an error, which is one of the SDK or of Node. */
const retryInfoOf = (thrown: unknown): RetryErrorInfo => {
  const error = thrown as SdkError;
  if (isThrottlingError(error)) return { error, errorType: "THROTTLING" };
  return { error, errorType: isTransientError(error) ? "TRANSIENT" : "CLIENT_ERROR" };
};

/** Parses a reply. The parser's message would quote it, and it may contain secrets of a request. */
const parsed = <O extends DynamodbOperation>(operation: O, text: string): Output<O> => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${operation}: the reply of DynamoDB is not JSON`);
  }
};

/**
 * Sends items as the JSON of DynamoDB's protocol, past the middleware of the SDK's client, which takes most of the CPU
 * time of a call. Everything else is the client's own: endpoint, region, credentials and their refresh, signer,
 * connections with their time limits, retries, and the difference to AWS's clock.
 * @throws DynamoDBServiceException with the number of attempts when DynamoDB refuses or fails
 */
export const createDynamodbCall = ({
  client: { config },
  tableName,
  onConsumed,
}: DynamodbCallOptions): DynamodbCall => {
  const { region, credentials, sha256 } = config;
  const signer = new SignatureV4({
    ...{ region, credentials, sha256 },
    service: config.defaultSigningName,
    applyChecksum: false,
  });
  const endpointOf = once(() =>
    getEndpointFromInstructions({ TableName: tableName }, GetItemCommand, config),
  );

  const signed = async (operation: DynamodbOperation, body: Uint8Array, signingDate: Date) => {
    const { url } = await endpointOf();
    const headers = {
      host: url.host,
      "content-type": "application/x-amz-json-1.0",
      "content-length": String(body.length),
      "x-amz-target": `${SERVICE}.${operation}`,
    };
    const { protocol, hostname, port, pathname: path } = url;
    const place = { protocol, hostname, path, ...(port !== "" && { port: Number(port) }) };
    return signer.sign(new HttpRequest({ ...place, method: "POST", headers, body }), {
      signingDate,
    });
  };

  /** Adopts AWS's time. @returns whether the signature of a request with `used` had a wrong time */
  const correctClock = ({ headers }: HttpResponse, used: number): boolean => {
    const time = Date.parse(headers.date ?? "");
    // A reply with an age comes from a cache.
    if (!Number.isNaN(time) && headers.age === undefined) {
      config.systemClockOffset = time - clock.now();
    }
    return Math.abs(config.systemClockOffset - used) >= MAX_SKEW_MS;
  };

  const attempt = async <O extends DynamodbOperation>(
    operation: O,
    body: Uint8Array,
    attempts: number,
  ): Promise<Output<O>> => {
    const offset = config.systemClockOffset;
    const request = await signed(operation, body, new Date(clock.now() + offset));
    const { response } = await config.requestHandler.handle(new HttpRequest(request));
    const bytes: Uint8Array =
      response.body instanceof Uint8Array
        ? response.body
        : await config.streamCollector(response.body);
    const text = config.utf8Encoder(bytes);
    const wasSkewed = correctClock(response, offset);
    if (response.statusCode < 300) return parsed(operation, text);
    const error = errorOf(response, text, { attempts });
    // AWS refuses a signature with a wrong time under several names. The retry has the right time.
    throw wasSkewed && !isFailedCondition(error)
      ? errorOf(response, text, { attempts, clockSkewCorrected: true })
      : error;
  };

  const send = async <O extends DynamodbOperation>(
    operation: O,
    body: Uint8Array,
  ): Promise<Output<O>> => {
    // Only a strategy that a caller configures could have the older interface.
    const strategy = (await config.retryStrategy()) as RetryStrategyV2;
    let token = await strategy.acquireInitialRetryToken(SERVICE);
    for (;;) {
      try {
        const output = await attempt(operation, body, token.getRetryCount() + 1);
        strategy.recordSuccess(token);
        return output;
      } catch (error) {
        // Pauses with jitter; rejects when the error is final, or after the last attempt.
        const next = strategy.refreshRetryTokenForRetry(token, retryInfoOf(error));
        token = await next.catch(() => {
          throw error;
        });
        await clock.sleep(token.getRetryDelay());
      }
    }
  };

  return async (operation, input) => {
    const counted = onConsumed ? { ...input, ReturnConsumedCapacity: "TOTAL" } : input;
    const body = Buffer.from(JSON.stringify(counted));
    const output = await limited(operation, send(operation, body));
    onConsumed?.(operation, output.ConsumedCapacity?.CapacityUnits ?? 0);
    return output;
  };
};
