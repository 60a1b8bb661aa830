import sharp from 'sharp'
import type { Sharp, SharpOptions } from 'sharp'

import { ActionError } from '../../lib/errors.ts'
import type { Frame, OrientedImage } from './frame.ts'
import { readJpegHeader } from './input/image-header.ts'
import type { ImageSize } from '../network-input.ts'
import { sniffFileType } from './input/sniff-file-type.ts'

/**
 * Sets up libvips for this process: one thread (there is one worker per core), no cache of
 * operations (no picture comes twice), and no file format but the two that are sniffed before.
 */
export function configureDecoder(): void {
  sharp.concurrency(1)
  sharp.cache(false)
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({ operation: ['VipsForeignLoadJpeg', 'VipsForeignLoadPng'] })
}

/**
 * Decodes an admitted JPEG or PNG to 8-bit sRGB, upright.
 *
 * The EXIF orientation is applied, an ICC profile is followed, CMYK, grey, palette and 16 bits are
 * converted, transparent parts become white, an animated PNG gives its first frame. Structure is
 * strict: a file that ends early or whose data contradict themselves is refused, so that no
 * half-grey face is ever compared. Trailing bytes and damaged metadata are ignored, because real
 * cameras write them.
 *
 * @param pixelsMax the header was checked against it; libvips holds the file to it again.
 * @throws ActionError IMAGE_DECODE_FAILED naming `path`.
 */
export async function decodeImage(
  bytes: Buffer,
  pixelsMax: number,
  path: string,
): Promise<OrientedImage> {
  const options = { failOn: 'warning', limitInputPixels: pixelsMax, autoOrient: true } as const
  const frameOf = (sideMax: number) => decodeToSize(sharp(bytes, options), sideMax).catch(refuse)
  const { size, orientation, isJpeg } = await readMetadata(bytes, options).catch(refuse)
  const isDrafted = isJpeg && Math.max(size.width, size.height) >= draftShrinkMin * draftSidePx
  const frame = await frameOf(isDrafted ? draftSidePx : frameSidePxMax)
  let finer: Promise<Frame> | undefined
  return {
    ...size,
    orientationApplied: orientation > 1 && orientation <= 8,
    frame,
    highResScale: highResSidePx(size) / Math.max(frame.width, frame.height),
    highResFrame: () => (finer ??= isDrafted ? frameOf(frameSidePxMax) : Promise.resolve(frame)),
  }

  function refuse(cause: unknown): never {
    throw new ActionError('IMAGE_DECODE_FAILED', `${path}.bytes: damaged or truncated`, { cause })
  }
}

type ImageMetadata = {
  /** Of the upright picture. */
  readonly size: ImageSize
  /** EXIF's, 1..8; 1 is upright. */
  readonly orientation: number
  readonly isJpeg: boolean
}

/** A JPEG without EXIF, as browsers make them, is upright and told by its header: 0.5 ms less. */
async function readMetadata(bytes: Buffer, options: SharpOptions): Promise<ImageMetadata> {
  const header =
    sniffFileType(bytes) === 'JPEG' && !bytes.includes('Exif') ? readJpegHeader(bytes) : null
  if (header) {
    const { width, height } = header
    return { size: { width, height }, orientation: 1, isJpeg: true }
  }
  const { autoOrient, orientation = 1, format } = await sharp(bytes, options).metadata()
  return { size: autoOrient, orientation, isJpeg: format === 'jpeg' }
}

function highResSidePx({ width, height }: ImageSize): number {
  return Math.min(frameSidePxMax, Math.max(width, height))
}

/** The whole picture with its longer side at most `sideMax` px. */
async function decodeToSize(image: Sharp, sideMax: number): Promise<Frame> {
  const { data, info } = await image
    .resize({ width: sideMax, height: sideMax, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, pixels: data }
}

/** `frame` scaled to `width` × `height` px, averaging where it shrinks. */
export async function resizeFrame(frame: Frame, width: number, height: number): Promise<Frame> {
  const pixels = await openRawFrame(frame)
    .resize({ width, height, fit: 'fill', kernel: 'linear' })
    .raw()
    .toBuffer()
  return { width, height, pixels }
}

/** `frame` with its own mirror image around it, `border` px wide on every side. */
export async function padWithMirror(frame: Frame, border: number): Promise<Frame> {
  const sides = { top: border, bottom: border, left: border, right: border }
  const pixels = await openRawFrame(frame)
    .extend({ ...sides, extendWith: 'mirror' })
    .raw()
    .toBuffer()
  return { width: frame.width + 2 * border, height: frame.height + 2 * border, pixels }
}

/** `frame` as a JPEG of quality 92, without chroma subsampling: chips are small. */
export function encodeJpeg(frame: Frame): Promise<Buffer> {
  return openRawFrame(frame).jpeg({ quality: 92, chromaSubsampling: '4:4:4' }).toBuffer()
}

/**
 * A large JPEG is first decoded to this long side, which is all that a detector (512 px at most) and
 * a near face need; who is small in it is looked at in the finer frame. A photograph of 12 megapixels
 * takes 19 ms so, and 59 ms to the finer frame. libjpeg leaves out work from a quarter of the size on;
 * at half of it, decoding costs more than in full.
 */
const draftSidePx = 640
const draftShrinkMin = 4

/**
 * The longest side of the finer frame, px. Detectors see 512; a face that they can find there (12 px) still
 * has 48 here. Landmarks on faces of 4 % of the side come out as at 4096 px (they differ by 1.8 %
 * of the distance between the eyes, as between any two sizes), and forty megapixels of JPEG take
 * 70 ms and 9 MB instead of 180 ms at 4096 px.
 */
const frameSidePxMax = 2048

function openRawFrame({ pixels, width, height }: Frame): Sharp {
  return sharp(pixels, { raw: { width, height, channels: 3 } })
}
