import { Option } from "commander";
import { EXIT, ExitError } from "./exit-code.ts";

/** Where a running Skyhook listens. */
export const endpointOption = (): Option =>
  new Option(
    "--endpoint <url>",
    "address of the running Skyhook, as `skyhook start` prints it",
  ).env("SKYHOOK_ENDPOINT");

/** @throws ExitError when no address, or none that can be one, was given */
export const checkedEndpoint = (endpoint: string | undefined): string => {
  if (endpoint !== undefined && /^https?:\/\//.test(endpoint) && URL.canParse(endpoint)) {
    return endpoint;
  }
  throw new ExitError(
    EXIT.refused,
    "--endpoint or SKYHOOK_ENDPOINT: give the address that `skyhook start` prints, such as http://127.0.0.1:4000",
  );
};
