import { invalid, RefusedError } from "./errors.ts";

const tooLarge = (maxBytes: number): RefusedError =>
  new RefusedError("too-large", `body: at most ${maxBytes} bytes`);

const readStream = async (
  body: NonNullable<Request["body"]>,
  maxBytes: number,
): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop cancels the stream, so an endless body stops here.
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const readBytes = async (request: Request, maxBytes: number): Promise<Uint8Array> => {
  const announced = request.headers.get("content-length");
  if (Number(announced) > maxBytes) throw tooLarge(maxBytes);
  try {
    // With a Content-Length, HTTP delivers no more bytes than announced. One read costs a tenth of a stream.
    if (announced !== null) return new Uint8Array(await request.arrayBuffer());
    return request.body === null ? new Uint8Array() : await readStream(request.body, maxBytes);
  } catch (error) {
    if (error instanceof RefusedError) throw error;
    // The client closed the connection before the end of its body, so this is no fault of the service.
    throw invalid({ body: ["incomplete: the connection ended before the body did"] });
  }
};

/** Reports whether a `Content-Type` is JSON. */
export const isJson = (contentType: string | null): boolean =>
  contentType?.split(";")[0]?.trim().toLowerCase() === "application/json";

/** 415. */
export const mustBeJson = (): RefusedError =>
  new RefusedError("unsupported-media-type", "content-type: must be application/json");

/** 400 for a body that is not JSON, or nested too deep. @param position line and column, if they are known */
export const notJson = (position = ""): RefusedError =>
  invalid({ body: [`must be valid JSON in UTF-8, at most 200 levels deep${position}`] });

const utf8 = new TextDecoder("utf-8", { fatal: true });

const decode = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes);
  } catch {
    throw notJson();
  }
};

/** Reports whether a request may have a body. RFC 9110 gives a body no meaning in the other methods. */
export const mayHaveBody = ({ method }: Request): boolean => method !== "GET" && method !== "HEAD";

/**
 * Reads and parses the JSON body of a request; undefined without a body.
 * @throws RefusedError 413 over the limit, 415 for another type than application/json, 400 for invalid UTF-8, and
 * what `parse` throws
 */
export const readJson = async <T>(
  request: Request,
  maxBytes: number,
  parse: (text: string) => T,
): Promise<T | undefined> => {
  if (!mayHaveBody(request)) return undefined;
  const bytes = await readBytes(request, maxBytes);
  if (bytes.byteLength === 0) return undefined;
  if (!isJson(request.headers.get("content-type"))) throw mustBeJson();
  return parse(decode(bytes));
};
