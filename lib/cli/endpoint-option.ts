import { Option } from "commander";
import { EXIT, ExitError } from "./exit-code.ts";

/** Where a running Skyhook listens. */
export const endpointOption = (): Option =>
  new Option(
    "--endpoint <url>",
    "address of the running Skyhook, as `skyhook start` prints it",
  ).env("SKYHOOK_ENDPOINT");

/**
 * The address as a URL; `127.0.0.1:4747` stands for `http://127.0.0.1:4747`.
 * @throws ExitError when no address, or none that can be one, was given
 */
export const checkedEndpoint = (endpoint: string | undefined): string => {
  const url = /^[\w.-]+:\d{1,5}$/.test(endpoint ?? "") ? `http://${endpoint}` : endpoint;
  if (url !== undefined && /^https?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new ExitError(
    EXIT.refused,
    "--endpoint or SKYHOOK_ENDPOINT: give the address that `skyhook start` prints, such as http://127.0.0.1:4000",
  );
};
