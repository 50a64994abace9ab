import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { adaptTemplate } from "./emulator-defects.ts";

/** Headers that describe the body of a request, or the connection. */
const OF_THE_BODY =
  /^(connection|content-length|content-md5|host|transfer-encoding|x-amz-checksum-.*|x-amz-sdk-checksum-.*|x-amz-trailer|content-encoding|expect)$/;

const isTemplate = (method: string | undefined, url: string): boolean =>
  method === "PUT" && /\/template-\w+\.json/.test(url);

/**
 * An address in front of the emulator, for programs whose template a test cannot change: it adapts each template on its
 * way into a bucket, and passes on everything else.
 */
export const openTemplateProxy = async (endpoint: string) => {
  const server = createServer(async (request, response) => {
    const { method, url = "/" } = request;
    const body = await buffer(request);
    const sent = isTemplate(method, url) ? Buffer.from(adaptTemplate(String(body))) : body;
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === "string" && !OF_THE_BODY.test(name) ? [[name, value] as const] : [],
    );
    try {
      const hasBody = method !== "GET" && method !== "HEAD";
      const reply = await fetch(`${endpoint}${url}`, {
        method: method ?? "GET",
        headers: Object.fromEntries(headers),
        ...(hasBody && { body: new Uint8Array(sent) }),
      });
      const bytes = Buffer.from(await reply.arrayBuffer());
      for (const [name, value] of reply.headers) {
        if (!/^(connection|content-encoding|content-length|transfer-encoding)$/.test(name))
          response.setHeader(name, value);
      }
      response.writeHead(reply.status).end(method === "HEAD" ? undefined : bytes);
    } catch (error) {
      response.writeHead(502).end(String(error));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  };
};
