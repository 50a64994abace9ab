const { end } = require("./configured.cjs");

/** `reservedConcurrency` of intake. */
exports.intake = async ({ resolveVariable }) => {
  const text = String(await resolveVariable("param:intakeConcurrency"));
  if (text === "none") return { Ref: "AWS::NoValue" };
  return /^[1-9]\d{0,3}$/.test(text)
    ? Number(text)
    : end(["intakeConcurrency: a whole number from 1 to 9999, or none"]);
};
