import { isIPv6 } from "node:net";

export const LOOPBACK = "127.0.0.1";

/** Who reaches a server. */
export interface Reach {
  /** IP address to listen at; default: 127.0.0.1. */
  readonly address?: string | undefined;
  /** Host names that the `Host` header may contain besides the loopback names and the address. */
  readonly allowedHosts?: readonly string[] | undefined;
}

/** Whether only this machine reaches a server at the address. */
export const isLoopback = (address = LOOPBACK): boolean =>
  address.startsWith("127.") || address === "::1";

/** The host of a URL to a server at the address, for a program of this machine. */
export const urlHost = (address: string): string => {
  if (address === "0.0.0.0") return LOOPBACK;
  if (address === "::") return "[::1]";
  return isIPv6(address) ? `[${address}]` : address;
};
