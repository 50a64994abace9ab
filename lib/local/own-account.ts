/** The AWS account that a local run takes itself to be in. */
export const LOCAL_SENDER = "000000000000";
