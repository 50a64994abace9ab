/** One version of a config file. */
export interface ConfigObject {
  readonly text: string;
  /** Differs whenever the text does. */
  readonly version: string;
}

/** Source of a config file: an S3 object, or a file on disk. */
export interface ConfigSource {
  /** Name for people, such as `s3://bucket/key` or a file's path. */
  readonly name: string;
  /** The newest version; undefined when there is none. @throws Error when it cannot be read now */
  read(): Promise<ConfigObject | undefined>;
}
