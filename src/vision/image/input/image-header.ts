/** What a picture's header promises, before a pixel is decoded. */
export type ImageHeader = {
  /** px as stored, before any EXIF orientation. */
  readonly width: number
  readonly height: number
  /** Passes over the picture: the scans of a JPEG, 1 for a PNG. */
  readonly scans: number
}

/**
 * Reads the header of a PNG (ISO/IEC 15948): IHDR must come first and be 13 bytes long.
 * `undefined` when it does not.
 */
export function readPngHeader(bytes: Uint8Array): ImageHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 33 || view.getUint32(8) !== 13 || view.getUint32(12) !== ihdr) return undefined
  return nonEmpty({ width: view.getUint32(16), height: view.getUint32(20), scans: 1 })
}

/**
 * Walks the markers of a JPEG (ITU-T T.81) for the size in its one frame header and the number of
 * its scans. A tiny file may declare 65,535 × 65,535 pixels or thousands of scans; both must be
 * known before the decoder sees it. Whatever follows the end-of-image marker is ignored.
 * `undefined` when the structure is broken or there is not exactly one frame.
 */
export function readJpegHeader(bytes: Uint8Array): ImageHeader | undefined {
  let frame: { readonly width: number; readonly height: number } | undefined
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

/** The segments up to the end of the image, or up to the first that is cut off. */
function* jpegSegments(bytes: Uint8Array): Generator<JpegSegment> {
  // indexOf jumps over entropy-coded data at the speed of memchr.
  let at = bytes.indexOf(0xff, 2)
  while (at !== -1 && at + 3 < bytes.length) {
    const marker = bytes[at + 1] ?? 0
    if (marker === endOfImage) return
    if (hasNoLength(marker)) {
      at = bytes.indexOf(0xff, at + (marker === 0xff ? 1 : 2))
      continue
    }
    const end = at + 2 + (((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0))
    if (end > bytes.length) return
    yield { marker, data: bytes.subarray(at + 4, end) }
    at = bytes.indexOf(0xff, end)
  }
}

/** Stuffed zero, fill byte, TEM, the restart markers RST0 to RST7, start of image. */
function hasNoLength(marker: number): boolean {
  return marker <= 0x01 || marker === 0xff || (marker >= 0xd0 && marker <= startOfImage)
}

/** SOF0 to SOF15 without DHT (C4), JPG (C8) and DAC (CC), which share their range. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
}
