import { createCipheriv } from "node:crypto";

/** Returns a text, the same each time, that compresses to this number of bytes and hardly less. */
export const incompressible = (bytes: number): string =>
  createCipheriv("aes-128-ctr", Buffer.alloc(16), Buffer.alloc(16))
    .update(Buffer.alloc(bytes))
    .toString("base64");
