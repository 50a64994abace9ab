/** One version of a config file. */
export interface ConfigObject {
  readonly text: string;
  /** Differs whenever the text does. */
  readonly version: string;
}

/** Source of a config file: an S3 object, or a file on disk. */
export interface ConfigSource {
  /** Name in logs and events, such as `s3://bucket/key` or a file's path. */
  readonly name: string;
  /** Reads the newest version; undefined if the file does not exist. @throws Error if it cannot be read */
  read(): Promise<ConfigObject | undefined>;
}
