import { testTagLookup } from "./tag-lookup.ts";
import { openTarget } from "./target.ts";

testTagLookup(await openTarget(), {
  what: "floating IP",
  list: "floating_ips",
  path: "/cloud/v1/floatingips",
  idField: "floating_ip_id",
});
