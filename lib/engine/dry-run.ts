import * as z from "zod";
import type { Mutation } from "../contract/operation.ts";
import { requestTarget } from "../provider/client.ts";
import type { CommandRequestBody } from "./command.ts";
import type { WouldSend } from "./command-events.ts";

const REDACTED = "[redacted]";

/** Secrets are fields of the body by now; what else they may become is left out all the same. */
const withoutSecrets = (operation: Mutation, body: unknown): unknown => {
  const fields = z.record(z.string(), z.unknown()).safeParse(body).data;
  if (!fields) return body;
  const secret = new Set<string>(operation.secrets ?? []);
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      secret.has(`body.${name}`) ? REDACTED : value,
    ]),
  );
};

/**
 * The request of a command as it would be sent.
 * @param path the template that the account's provider answers to
 */
export const wouldSend = (
  operation: Mutation,
  path: string,
  request: CommandRequestBody,
): WouldSend => {
  const body = z.encode<z.ZodType>(operation.body, request.body);
  return {
    method: operation.method,
    path: requestTarget(operation, path, request),
    ...(body !== undefined && { body: withoutSecrets(operation, body) }),
  };
};
