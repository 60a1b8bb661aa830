/** The chunks of a WebP besides its frames: a photograph has at most a dozen. */
const otherChunksMax = 100

const riffHeaderBytes = 12
const chunkHeadBytes = 8
const frameHeadBytes = 16

/**
 * Returns whether a WebP has more frames than `framesMax`, or as many chunks. The decoder
 * compares each frame with all earlier ones: the header of 50,000 frames takes it seconds. At most
 * three chunk heads per frame and a hundred more are read.
 */
export function exceedsWebpFrames(bytes: Buffer, framesMax: number): boolean {
  const chunksMax = webpChunksMax(framesMax)
  const names = Array.from(webpChunks(bytes).take(chunksMax + 1), ({ name }) => name)
  return names.length > chunksMax || names.filter((name) => name === 'ANMF').length > framesMax
}

/** Returns the most chunks of a WebP with at most `framesMax` frames. */
export function webpChunksMax(framesMax: number): number {
  return 3 * framesMax + otherChunksMax + 1
}

/**
 * Yields the chunks of a WebP (RIFF: a name, the length, the data, padded to an even length). The decoder
 * reads chunks after the pixels of a frame as chunks of the file, so that those within frames are among
 * them.
 */
export function* webpChunks(bytes: Buffer) {
  for (let offset = riffHeaderBytes; offset + chunkHeadBytes <= bytes.length;) {
    const name = bytes.toString('latin1', offset, offset + 4)
    const length = bytes.readUInt32LE(offset + 4)
    const paddedLength = length + (length % 2)
    offset += chunkHeadBytes
    yield { name, data: bytes.subarray(offset, offset + length) }
    offset += name === 'ANMF' ? Math.min(frameHeadBytes, paddedLength) : paddedLength
  }
}
