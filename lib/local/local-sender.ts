/** AWS account of a local run. */
export const LOCAL_SENDER = "000000000000";
