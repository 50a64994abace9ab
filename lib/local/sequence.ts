const DIGITS = 20;

/** Room for this many numbers within a millisecond before they run ahead of the clock. */
const PER_MILLISECOND = 1_000_000n;

/**
 * The number after `previous`, in 20 digits as SQS writes it, so that numbers sort as text.
 * It follows the clock: so it keeps growing over a restart after which no former number is left.
 */
export const nextSequence = (previous: string | undefined, nowMs: number): string => {
  const byClock = BigInt(Math.floor(nowMs)) * PER_MILLISECOND;
  const following = previous === undefined ? 0n : BigInt(previous) + 1n;
  return String(following > byClock ? following : byClock).padStart(DIGITS, "0");
};
