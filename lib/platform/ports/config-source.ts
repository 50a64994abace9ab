/** One version of a config object. */
export interface ConfigObject {
  readonly text: string;
  /** Differs whenever the text does. */
  readonly version: string;
}

/** Where a config is kept: an object in a bucket, or a file. */
export interface ConfigSource {
  /** What people know it by, such as `s3://bucket/key` or a file's path. */
  readonly name: string;
  /** The newest version; undefined when there is none. @throws Error when it cannot be read now */
  read(): Promise<ConfigObject | undefined>;
}
