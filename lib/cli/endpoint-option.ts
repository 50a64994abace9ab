import { Option } from "commander";
import { EXIT, ExitError } from "./exit-code.ts";
import { lastRunEndpoint } from "./last-run.ts";

/** Where a running Skyhook listens. */
export const endpointOption = (): Option =>
  new Option(
    "--endpoint <url>",
    "address of the running Skyhook (default: that of the last `skyhook start`)",
  ).env("SKYHOOK_ENDPOINT");

/**
 * The address as a URL; `127.0.0.1:4747` stands for `http://127.0.0.1:4747`.
 * @param endpoint absent or empty: the last run of this user
 * @throws ExitError when it is no address, or there is no run
 */
export const checkedEndpoint = (
  endpoint: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string => {
  if (!endpoint) return lastRunEndpoint(environment);
  const url = /^[\w.-]+:\d{1,5}$/.test(endpoint) ? `http://${endpoint}` : endpoint;
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new ExitError(
    EXIT.refused,
    "--endpoint or SKYHOOK_ENDPOINT: give the address that `skyhook start` prints, such as http://127.0.0.1:4747",
  );
};
