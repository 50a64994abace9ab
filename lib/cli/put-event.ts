import { EXIT, type ExitCode } from "./exit-code.ts";
import { createGatewayClient } from "./gateway-client.ts";
import { printNote, printResult } from "./output.ts";
import { readEvent } from "./reaction-files.ts";

export interface PutOptions {
  readonly endpoint: string;
  /** AWS account that the event is put by; absent: what the file says, or our own. */
  readonly from: string | undefined;
  /** `default`, or absent for Skyhook's own. */
  readonly bus: string | undefined;
}

/**
 * Puts an event on the bus of a running Skyhook, as its own AWS account or another one.
 * @throws ExitError when it is not reached, or the bus does not take the event
 */
export const putEvent = async (file: string, options: PutOptions): Promise<ExitCode> => {
  const { endpoint, from, bus } = options;
  const event = {
    ...readEvent(file),
    ...(from !== undefined && { account: from }),
    ...(bus !== undefined && { bus }),
  };
  const id = await createGatewayClient(endpoint).put(event);
  printResult(id);
  printNote("put; what comes of it is told where Skyhook runs");
  return EXIT.ok;
};
