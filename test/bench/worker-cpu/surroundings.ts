import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { updatePolicy } from "../../../lib/contract/lifecycle-policies.ts";
import { builtInState } from "../../../lib/service/state/state.ts";
import { openTableServer } from "../../support/table-server.ts";
import { SECRET } from "./worker.ts";

/*
 * A process with everything that a worker calls: the ledger's table in dynalite, and one server for SSM and for the
 * provider. Every provider request changes a policy, and gets the same reply.
 */

const [policy] = builtInState().lifecycle_policies;
const REPLY = JSON.stringify(updatePolicy.response.parse(policy));
const PARAMETER = JSON.stringify({ Parameter: { Value: SECRET } });

const table = await openTableServer(process.env.TABLE_NAME ?? "");
const server = createServer((request, response) => {
  const isSsm = request.headers["x-amz-target"] !== undefined;
  request.resume();
  request.on("end", () => {
    response.setHeader("content-type", isSsm ? "application/x-amz-json-1.1" : "application/json");
    response.end(isSsm ? PARAMETER : REPLY);
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
const url = `http://127.0.0.1:${port}`;
process.once("disconnect", () => process.exit());
process.send?.({
  url,
  environment: { ...table.environment, AWS_ENDPOINT_URL: url },
});
