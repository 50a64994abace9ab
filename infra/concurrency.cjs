const { end } = require("./configured.cjs");

const LEAST = 2;
const MOST = 1_000;

/**
 * `maximumConcurrency` of intake's mapping: how many batches of events are accepted side by side. A
 * limit that reserves nothing, because Lambda refuses a reservation that leaves less than 100 of an
 * AWS account's quota to its other functions, and the whole quota of a new one may be 10.
 */
exports.intake = async ({ resolveVariable }) => {
  if ((await resolveVariable("param:intakeConcurrency, null")) !== null) {
    end([
      `intakeConcurrency: replaced by intakeMaximumConcurrency (${LEAST} to ${MOST}), which reserves nothing`,
    ]);
  }
  const text = String(await resolveVariable("param:intakeMaximumConcurrency"));
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return number >= LEAST && number <= MOST
    ? number
    : end([`intakeMaximumConcurrency: a whole number from ${LEAST} to ${MOST}`]);
};
