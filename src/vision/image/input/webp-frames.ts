/** The chunks of a WebP besides its frames: a photograph has at most a dozen. */
const otherChunksMax = 100

const riffHeaderBytes = 12
const chunkHeadBytes = 8

/**
 * Returns whether a WebP has more frames than `framesMax`, or as many chunks. The decoder
 * compares each frame with all earlier ones: the header of 50,000 frames takes it seconds. At most
 * `framesMax` and a hundred chunk heads are read (RIFF: a name, the length, the data, padded to an
 * even length).
 */
export function exceedsWebpFrames(bytes: Buffer, framesMax: number): boolean {
  let offset = riffHeaderBytes
  let frames = 0
  for (let chunks = 0; offset + chunkHeadBytes <= bytes.length; chunks++) {
    if (frames > framesMax || chunks > framesMax + otherChunksMax) return true
    if (bytes.toString('latin1', offset, offset + 4) === 'ANMF') frames++
    const length = bytes.readUInt32LE(offset + 4)
    offset += chunkHeadBytes + length + (length % 2)
  }
  return frames > framesMax
}
