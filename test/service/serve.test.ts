import { connect } from "node:net";
import { expect, test } from "vitest";
import { BUILT_IN_API_KEYS } from "../../lib/service/built-in/built-in-state.ts";
import { serve } from "../../lib/service/serve.ts";
import { CONTAINER, SUSPENDED, startService } from "./harness.ts";

const headers = {
  authorization: `apikey ${BUILT_IN_API_KEYS.first}`,
  "content-type": "application/json",
};

test("the interface is served on this machine on a free port", async () => {
  const { service } = await startService();

  const served = await serve(service, 0);
  const response = await fetch(`${served.url}${SUSPENDED}`, { headers });
  const instance = await response.json();
  await served.close();

  expect(served.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  expect(response.status).toBe(200);
  expect(instance).toMatchObject({ name: "my-instance" });
});

test("a body over the limit is answered 413 over the wire, too", async () => {
  const { service } = await startService();
  const served = await serve(service, 0);

  const response = await fetch(`${served.url}${CONTAINER}`, {
    method: "PATCH",
    headers,
    body: `{"commands":"${"x".repeat(1_048_576)}"}`,
  });
  await response.body?.cancel();
  await served.close();

  expect(response.status).toBe(413);
});

test("after closing nobody answers, also with a connection still open", async () => {
  const { service } = await startService();
  const served = await serve(service, 0);
  await (await fetch(`${served.url}${SUSPENDED}`, { headers })).text();

  await served.close();

  await expect(fetch(`${served.url}${SUSPENDED}`, { headers })).rejects.toThrow();
});

test("closing does not wait for a request that never gets complete", async () => {
  const { service } = await startService();
  const served = await serve(service, 0);
  const socket = connect(Number(new URL(served.url).port), "127.0.0.1");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  // A dropped connection may show as a reset; that it is dropped is what counts.
  socket.on("error", () => {});
  socket.write("PATCH /v1/tasks HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{");
  await new Promise((resolve) => socket.once("ready", resolve));

  await served.close();

  await closed;
  expect(socket.destroyed).toBe(true);
});

test("a taken port is an error at once", async () => {
  const { service } = await startService();
  const served = await serve(service, 0);

  const second = serve(service, Number(new URL(served.url).port));

  await expect(second).rejects.toMatchObject({ code: "EADDRINUSE" });
  await served.close();
});
