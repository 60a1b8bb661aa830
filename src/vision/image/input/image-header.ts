import type { ImageSize } from '../geometry.ts'

/** The facts that the header of an image states, read before any pixel is decoded. */
export type ImageHeader = {
  /** px as stored, before any EXIF orientation. */
  readonly width: number
  readonly height: number
  /** Passes over all pixels: the scans of a JPEG, 1 for a PNG. */
  readonly scans: number
}

/**
 * Reads the header of a PNG (ISO/IEC 15948). Returns `undefined` if the first chunk is not an IHDR of
 * 13 bytes, or if a side is 0.
 */
export function readPngHeader(bytes: Uint8Array): ImageHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 33 || view.getUint32(8) !== 13 || view.getUint32(12) !== ihdr) return undefined
  return nonEmpty({ width: view.getUint32(16), height: view.getUint32(20), scans: 1 })
}

/**
 * Reads the size and the number of scans from the segments of a JPEG (ITU-T T.81). A tiny file can
 * declare 65,535 × 65,535 pixels or thousands of scans. Both must be checked before it is decoded.
 * Bytes after the end-of-image marker are ignored. Returns `undefined` if the structure is broken, if
 * there is not exactly one frame header, or if a side is 0.
 */
export function readJpegHeader(bytes: Uint8Array): ImageHeader | undefined {
  let frame: ImageSize | undefined
  let scans = 0
  for (const { marker, data } of jpegSegments(bytes)) {
    if (isFrameHeader(marker)) {
      if (frame || data.length < 6) return undefined
      const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
      frame = { height: view.getUint16(1), width: view.getUint16(3) }
    }
    if (marker === startOfScan) scans++
  }
  return frame && scans > 0 ? nonEmpty({ ...frame, scans }) : undefined
}

const ihdr = 0x49_48_44_52
const startOfImage = 0xd8
const endOfImage = 0xd9
const startOfScan = 0xda

function nonEmpty(header: ImageHeader): ImageHeader | undefined {
  return header.width > 0 && header.height > 0 ? header : undefined
}

type JpegSegment = { readonly marker: number; readonly data: Uint8Array }

/** Yields the segments up to the end of the image, or up to the first incomplete one. */
function* jpegSegments(bytes: Uint8Array): Generator<JpegSegment> {
  // indexOf skips entropy-coded data at the speed of memchr.
  let offset = bytes.indexOf(0xff, 2)
  while (offset !== -1 && offset + 3 < bytes.length) {
    const marker = bytes[offset + 1] ?? 0
    if (marker === endOfImage) return
    if (hasNoLength(marker)) {
      offset = bytes.indexOf(0xff, offset + (marker === 0xff ? 1 : 2))
      continue
    }
    const end = offset + 2 + (((bytes[offset + 2] ?? 0) << 8) | (bytes[offset + 3] ?? 0))
    if (end > bytes.length) return
    yield { marker, data: bytes.subarray(offset + 4, end) }
    offset = bytes.indexOf(0xff, end)
  }
}

/** True for a stuffed zero, a fill byte, TEM, the restart markers RST0 to RST7 and start of image. */
function hasNoLength(marker: number): boolean {
  return marker <= 0x01 || marker === 0xff || (marker >= 0xd0 && marker <= startOfImage)
}

/** True for SOF0 to SOF15. DHT (C4), JPG (C8) and DAC (CC) are in the same range. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
}
