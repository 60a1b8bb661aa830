import jpegTurbo from '@julusian/jpeg-turbo'
import type { Frame } from './frame.ts'
import type { ImageSize } from './geometry.ts'

/**
 * Decodes a whole JPEG with libjpeg-turbo, in the calling thread. This takes 2.2 ms for 1280×720 px,
 * libvips 5.8 ms: it copies each row several times, and wakes another thread after each 16 rows.
 * Neither the EXIF orientation nor a colour profile is applied.
 *
 * The values differ from those of libvips by one level of 255 on average, because the library uses
 * the fast transform (`JDCT_IFAST`): see `eval/decoding/compare-decoders.ts`.
 *
 * @param size of the image as stored, px.
 * @returns undefined if the library cannot decode the image, or reports a warning.
 */
export function decodeJpeg(bytes: Buffer, { width, height }: ImageSize): Frame | undefined {
  const pixels = Buffer.allocUnsafeSlow(3 * width * height)
  try {
    const decoded = jpegTurbo.decompressSync(bytes, pixels, { format: jpegTurbo.FORMAT_RGB })
    return decoded.width === width && decoded.height === height
      ? { width, height, pixels }
      : undefined
  } catch {
    return undefined
  }
}
