import { type Search, seek } from "./seek.ts";

/* The worker process of hunt.ts. */
process.on("message", (search: Search) => {
  void seek(search).then((found) => process.send?.(found ?? null));
});
