/** Source of secret values. Values never appear in logs or errors. */
export interface Secrets {
  /**
   * @param reference name of an SSM parameter, or a local name in a local run
   * @throws Error with the reference when the secret does not exist
   */
  read(reference: string): Promise<string>;
}
