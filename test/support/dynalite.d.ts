declare module "dynalite" {
  import type { Server } from "node:http";

  /** The options that are used here; closing the server also closes its database. */
  export default function dynalite(options: {
    /** LevelDB folder; absent: in memory. */
    readonly path?: string;
    /** How long a table is CREATING, 500 unless told. */
    readonly createTableMs?: number;
  }): Server;
}
