import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

/** The SHA-256 of the bytes, hexadecimal. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The SHA-256 of a file, hexadecimal. Reads in chunks: a weights file can exceed the memory. */
export async function sha256OfFile(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array)
  return hash.digest('hex')
}
