import type { Secrets } from "../platform/ports/secrets.ts";
import type { AccountSettings } from "./accounts-config.ts";

/** Where an account's key is. */
export interface KeySource {
  /** The name of the place, for people; never the key. */
  readonly reference: string;
  /** @throws Error naming the place, never the key */
  read(): Promise<string>;
}

export interface KeyPorts {
  readonly secrets: Secrets;
  /** Where keys are that the config names as `environment`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The place that an account names. */
export const keySourceOf = (
  apiKey: NonNullable<AccountSettings["apiKey"]>,
  { secrets, environment }: KeyPorts,
): KeySource => {
  if ("parameter" in apiKey) {
    const { parameter } = apiKey;
    return { reference: parameter, read: () => secrets.read(parameter) };
  }
  const variable = apiKey.environment;
  return {
    reference: variable,
    async read() {
      const key = environment[variable];
      if (!key) throw new Error(`the environment variable ${variable} is not set`);
      return key;
    },
  };
};
