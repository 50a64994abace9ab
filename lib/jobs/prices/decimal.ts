import Big from "big.js";

/** Divides to one digit more than is kept, cut off and not rounded, so that nothing is rounded twice. */
const Quotient = Big();
Quotient.DP = 3;
Quotient.RM = Big.roundDown;

const PERCENT_PLACES = 2;

/**
 * The one text of a decimal number: no exponent, no zeros at its ends. Floating point says of a number
 * the shortest text that it stands for, which is the one that was sent.
 * @param value a finite number or decimal text
 */
export const decimalText = (value: number | string): string => Big(String(value)).toFixed();

/**
 * The change in percent, rounded half up to two places: `12.50`, `-3.10`. Null from zero: there is no
 * percentage of nothing.
 */
export const percentChange = (before: string, after: string): string | null => {
  const from = Quotient(before);
  if (from.eq(0)) return null;
  const percent = Quotient(after).minus(from).times(100).div(from.abs());
  return percent.round(PERCENT_PLACES, Big.roundHalfUp).toFixed(PERCENT_PLACES);
};
