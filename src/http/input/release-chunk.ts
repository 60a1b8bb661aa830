/**
 * Frees the memory of a chunk whose bytes are no longer needed. Chunks are small for the garbage
 * collector but not for the process: it would run only after tens of mebibytes of them.
 */
export function releaseChunk({ buffer, byteLength }: Buffer): void {
  // The HTTP parser creates a separate buffer for each chunk; any other is shared and stays.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
