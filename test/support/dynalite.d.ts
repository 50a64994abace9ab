declare module "dynalite" {
  import type { Server } from "node:http";

  /** The options in use. Closing the server also closes its database. */
  export default function dynalite(options: {
    /** LevelDB folder; default: in memory. */
    readonly path?: string;
    /** Milliseconds in which a new table is CREATING; default: 500. */
    readonly createTableMs?: number;
  }): Server;
}
