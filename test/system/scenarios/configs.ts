import { DEMO_ACCOUNTS } from "../../../lib/cli/demo/world.ts";

/** The demo's accounts file, with the account at another provider. */
export const accountsAt = (baseUrl: string, parameter: string): string =>
  DEMO_ACCOUNTS.replace(
    "  - name: local ",
    `  - base_url: ${baseUrl}\n    api_key: { parameter: ${parameter} }\n    name: local `,
  );

/** A config with the thresholds that the scenarios check. */
export const thresholdsOf = (bytes: string): string => `prune: false
thresholds:
  - name: reaching_used_space
    bucket_name: scenario-photos
    bytes: ${bytes}
  - name: reaching_files_quantity
    bucket_name: scenario-photos
    count: 1000000
`;
