/** Virtual start of every run, epoch ms. */
export const STARTS_AT = Date.UTC(2026, 0, 1);

/** The AWS account that Skyhook runs in. */
export const OWN_SENDER = "999900001111";
/** The AWS account of another team, with all rights. */
export const OTHER_SENDER = "111122223333";
/** An AWS account with rights in project B only. */
export const NARROW_SENDER = "222233334444";
/** An AWS account that may put events on the bus but run no operation. */
export const STRANGER = "444455556666";

export const A = { project_id: 1234567, region_id: 76 };
export const B = { project_id: 1186668, region_id: 148 };

/** An account at the provider whose tasks and events can be listed. */
export const LOCAL = "local";
/** The same provider with a key that cannot list tasks or events. */
export const BLIND = "blind";

export const BASE_URLS: Readonly<Record<string, string>> = {
  [LOCAL]: "https://provider.test",
  [BLIND]: "https://blind.test",
};

/** The account that a request's URL belongs to. */
export const accountAt = (url: string): string =>
  url.startsWith(`${BASE_URLS[BLIND]}/`) ? BLIND : LOCAL;
