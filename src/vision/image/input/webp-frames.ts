import { eraseTags } from './exif.ts'

/** The chunks of a WebP besides its frames: a photograph has at most a dozen. */
const otherChunksMax = 100

const riffHeaderBytes = 12
const chunkHeadBytes = 8
const frameHeadBytes = 16

/**
 * Returns whether a WebP has more frames than `framesMax`, or as many chunks. The decoder
 * compares each frame with all earlier ones: the header of 50,000 frames takes it seconds. At most
 * three chunk heads per frame and a hundred more are read (RIFF: a name, the length, the data, padded
 * to an even length). The decoder reads chunks after the pixels of a frame as chunks of the file, so
 * that those within frames are read, too. The pointers of EXIF chunks are erased.
 */
export function exceedsWebpFrames(bytes: Buffer, framesMax: number): boolean {
  let offset = riffHeaderBytes
  let frames = 0
  for (let chunks = 0; offset + chunkHeadBytes <= bytes.length; chunks++) {
    if (frames > framesMax || chunks > 3 * framesMax + otherChunksMax) return true
    const name = bytes.toString('latin1', offset, offset + 4)
    const length = bytes.readUInt32LE(offset + 4)
    const paddedLength = length + (length % 2)
    offset += chunkHeadBytes
    if (name === 'ANMF') frames++
    if (name === 'EXIF') eraseTags(bytes.subarray(offset, offset + length))
    offset += name === 'ANMF' ? Math.min(frameHeadBytes, paddedLength) : paddedLength
  }
  return frames > framesMax
}
