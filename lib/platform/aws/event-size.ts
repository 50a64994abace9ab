/**
 * The most that one PutEvents request, and so one entry, may hold.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/calculate-putevents-entry-size.html
 */
export const MAX_EVENT_BYTES = 256 * 1024;

/** EventBridge counts every time as this many bytes. */
const TIME_BYTES = 14;

/** The size of an entry that carries a time, as EventBridge counts it: before it adds the envelope. */
export const eventBytes = (source: string, detailType: string, detailJson: string): number =>
  TIME_BYTES +
  Buffer.byteLength(source) +
  Buffer.byteLength(detailType) +
  Buffer.byteLength(detailJson);
