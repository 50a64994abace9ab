import { testTagLookup } from "./tag-lookup.ts";
import { openTarget } from "./target.ts";

testTagLookup(await openTarget(), {
  what: "network",
  list: "networks",
  path: "/cloud/v1/networks",
  idField: "network_id",
});
