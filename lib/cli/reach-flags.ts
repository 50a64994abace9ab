import type { Command } from "commander";
import pc from "picocolors";
import * as z from "zod";
import { isLoopback, type Reach } from "../service/reach.ts";

/** Options that say who reaches the servers of a verb, as commander reads them. */
export interface ReachFlags {
  readonly listen?: string;
  readonly allowHost?: string;
}

const hostNames = z
  .string()
  .regex(/^[\w.-]+(,[\w.-]+)*$/, {
    error: "host names such as cloud.internal, separated by commas, without scheme or port",
  })
  .transform((names) => names.split(","));

/** Settings of the options. */
export const reachSettings = {
  "--listen": z
    .union([z.ipv4(), z.ipv6()], { error: "an IP address of this machine, such as 0.0.0.0" })
    .optional(),
  "--allow-host": hostNames.optional(),
};

export const givenReach = ({ listen, allowHost }: ReachFlags) => ({
  "--listen": listen,
  "--allow-host": allowHost,
});

export const reachOf = ({
  "--listen": address,
  "--allow-host": allowedHosts,
}: {
  readonly "--listen"?: string | undefined;
  readonly "--allow-host"?: readonly string[] | undefined;
}): Reach => ({ address, allowedHosts });

/** A warning for servers that other machines may reach; none for 127.0.0.1. */
export const reachLines = ({ address }: Reach): readonly string[] =>
  isLoopback(address)
    ? []
    : [
        pc.yellow(
          `Listens at ${address}: other machines may reach it, over HTTP without encryption.`,
        ),
      ];

/** Declares the options. */
export const addReachOptions = (command: Command): Command =>
  command
    .option(
      "--listen <address>",
      "IP address to listen at, for containers: 0.0.0.0 is every address (default: 127.0.0.1, this machine only)",
    )
    .option(
      "--allow-host <names>",
      "additional host names that requests may name, separated by commas (default: 127.0.0.1, localhost and [::1] only)",
    );
