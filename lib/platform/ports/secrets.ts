/** Where secret values come from. Values are never logged and never put into an error. */
export interface Secrets {
  /**
   * @param reference a parameter name in the cloud, a name of our own on one machine
   * @throws Error naming the reference when there is no such secret
   */
  read(reference: string): Promise<string>;
}
