import { parseRequestJson } from "../contract/json.ts";
import { invalid, RefusedError } from "./errors.ts";

/** Our own limit: no documented body comes near it, and a laptop should not be filled by one. */
const MAX_BODY_BYTES = 1_048_576;

const tooLarge = (): RefusedError =>
  new RefusedError("too-large", `body: at most ${MAX_BODY_BYTES} bytes`);

const readStream = async (body: NonNullable<Request["body"]>): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the stream, so an endless body stops here too.
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const readBytes = async (request: Request): Promise<Uint8Array> => {
  const announced = request.headers.get("content-length");
  if (Number(announced) > MAX_BODY_BYTES) throw tooLarge();
  try {
    // HTTP lets no more bytes come than were announced; read at once they cost a tenth of a stream.
    if (announced !== null) return new Uint8Array(await request.arrayBuffer());
    return request.body === null ? new Uint8Array() : await readStream(request.body);
  } catch (error) {
    if (error instanceof RefusedError) throw error;
    // The sender went away amid its body: nobody reads the answer, and it is no fault of ours.
    throw invalid({ body: ["did not arrive whole"] });
  }
};

const isJson = (contentType: string | null): boolean =>
  contentType?.split(";")[0]?.trim().toLowerCase() === "application/json";

const parseBody = (bytes: Uint8Array): unknown => {
  try {
    return parseRequestJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message quotes the body, which may hold a variable's value.
    throw invalid({ body: ["must be readable JSON in UTF-8"] });
  }
};

/** By RFC 9110 content of these has no meaning, and fetch does not even let them have any. */
export const mayHaveBody = ({ method }: Request): boolean => method !== "GET" && method !== "HEAD";

/**
 * Reads a request's JSON; undefined when there is no body. Whether one is needed is the operation's
 * rule, checked later: what happens here is the same for every path, known or not, so an
 * unauthenticated caller learns nothing about paths from it.
 * @throws RefusedError 413 over 1 MiB, then 415 when not application/json, then 400 when unreadable
 */
export const readBody = async (request: Request): Promise<unknown> => {
  const bytes = await readBytes(request);
  if (bytes.byteLength === 0) return undefined;
  if (!isJson(request.headers.get("content-type"))) {
    throw new RefusedError("unsupported-media-type", "content-type: must be application/json");
  }
  return parseBody(bytes);
};
