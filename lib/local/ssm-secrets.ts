import type { Secrets } from "../platform/ports/secrets.ts";

/** Secrets in SSM parameters. Loads the AWS client at a read: most runs have no AWS credentials, and no use for it. */
export const ssmSecrets: Secrets = {
  async read(reference) {
    const { createSsmSecrets } = await import("../platform/aws/ssm-secrets.ts");
    return createSsmSecrets().read(reference);
  },
};
