import { createRequire } from 'node:module'
import type JpegTurbo from '@julusian/jpeg-turbo'
import sharp, { type Sharp, type SharpOptions } from 'sharp'
import { ActionError } from '../../lib/errors.ts'
import {
  type ExtraImageType,
  fileTypeOf,
  sniffFileType,
} from '../../lib/image-types/image-types.ts'
import { checkExtraHeader, loadersOf } from './extra-types.ts'
import type { ImageSize } from './geometry.ts'
import type { EncodedImage, ImageLimits } from './input/encoded-image.ts'
import { erasePointers } from './input/exif.ts'
import { hasElementChains, isSrgbProfile } from './input/srgb-profile.ts'
import { readJpegHeader, validateImage } from './input/validate-image.ts'

/** The module of the package is not loaded: it needs other packages, which only compile this program. */
const jpegTurbo = createRequire(import.meta.url)(
  `@julusian/jpeg-turbo/prebuilds/jpeg-turbo-${process.platform}-${process.arch}/node-napi-v10.node`,
) as typeof JpegTurbo

/**
 * Configures libvips for this process: one thread (there is one worker per core), no operation
 * cache (images do not repeat), and only the file formats that `validateImage` accepts.
 */
export function configureDecoder(extraTypes: readonly ExtraImageType[] = []): void {
  sharp.concurrency(1)
  sharp.cache(false)
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({
    operation: ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', ...loadersOf(extraTypes)],
  })
}

/**
 * Validates an image and decodes it.
 *
 * @param path JSON path of the image in the API request, for messages: `params.images[0]`.
 * @throws ActionError the codes that `Pipeline.analyzeImage` lists.
 */
export async function openImage(image: EncodedImage, limits: ImageLimits, path: string) {
  const bytes = validateImage(image, limits, path)
  const type = fileTypeOf(image.contentType)
  erasePointers(bytes, type)
  if (type !== 'JPEG' && type !== 'PNG') await checkExtraHeader({ bytes, type }, limits, path)
  return decodeImage(bytes, limits.pixelsMax, path)
}

/**
 * Decodes a validated image to 8-bit sRGB: with libjpeg-turbo if it is a JPEG whose pixels need no
 * other change, otherwise with libvips. Of a file that has defects, libvips decides.
 *
 * - The EXIF orientation and an ICC profile are applied. A profile of sRGB needs no conversion. One with
 *   chains of processing elements is ignored; with it, CMYK is rejected, which has no colours without one.
 * - CMYK, grey, palette and 16-bit images are converted.
 * - Transparent parts become white; an animation is reduced to its first frame.
 * - Truncated or contradictory data is rejected, so that a half-grey face is never compared.
 * - Trailing bytes and damaged metadata are ignored, because real cameras write them.
 *
 * @param pixelsMax limit that libvips enforces, in addition to the check of the header.
 * @throws ActionError IMAGE_DECODE_FAILED naming `path`.
 */
export async function decodeImage(bytes: Buffer, pixelsMax: number, path: string) {
  const options = { failOn: 'warning', limitInputPixels: pixelsMax, autoOrient: true } as const
  const metadata = await readMetadata(bytes, options).catch(reject)
  const { size, orientation, isJpeg, isProgressive, profile, space } = metadata
  if (profile === 'ignored' && space === 'cmyk')
    throw new ActionError(
      'IMAGE_DECODE_FAILED',
      `${path}.bytes: the colour profile has processing elements (D2B0 to D2B3); convert the image to sRGB`,
    )
  const longerSidePx = Math.max(size.width, size.height)
  const isDrafted = isJpeg && !isProgressive && space !== 'cmyk' && longerSidePx >= draftedSidePxMin
  const isPlainJpeg =
    isJpeg && orientation === 1 && profile !== 'other' && longerSidePx <= frameSidePxMax
  const decodeFrame = (sideMax: number): Promise<Frame> =>
    decodeToSize(sharp(bytes, { ...options, ignoreIcc: true }), metadata, sideMax).catch(reject)
  const frame =
    (isPlainJpeg ? decodeJpeg(bytes, size) : undefined) ??
    (await decodeFrame(isDrafted ? draftSidePx : frameSidePxMax))
  let highRes: Promise<Frame> | undefined
  return {
    ...size,
    orientationApplied: orientation > 1 && orientation <= 8,
    frame,
    highResScale: Math.min(frameSidePxMax, longerSidePx) / Math.max(frame.width, frame.height),
    highResFrame: () =>
      (highRes ??= isDrafted ? decodeFrame(frameSidePxMax) : Promise.resolve(frame)),
  }

  function reject(cause: unknown): never {
    throw new ActionError('IMAGE_DECODE_FAILED', `${path}.bytes: damaged or truncated`, { cause })
  }
}

type ImageMetadata = {
  /** Of the oriented image. */
  readonly size: ImageSize
  /** The EXIF orientation, 1..8; 1 means no change. */
  readonly orientation: number
  readonly isJpeg: boolean
  readonly isProgressive: boolean
  /** The ICC profile. */
  readonly profile: 'none' | 'srgb' | 'ignored' | 'other'
  /** The colour space of the pixels, as libvips names it; undefined for a JPEG without metadata. */
  readonly space?: string
}

/** For a JPEG without EXIF and profile, as browsers create it, reads only the header: saves 0.5 ms. */
async function readMetadata(bytes: Buffer, options: SharpOptions): Promise<ImageMetadata> {
  const isBare =
    sniffFileType(bytes) === 'JPEG' && !bytes.includes('Exif') && !bytes.includes('ICC_PROFILE')
  const header = isBare ? readJpegHeader(bytes) : undefined
  if (header && header.channels !== 4) {
    const { width, height, scans } = header
    const size = { width, height }
    return { size, orientation: 1, isJpeg: true, isProgressive: scans > 1, profile: 'none' }
  }
  const metadata = await sharp(bytes, options).metadata()
  const { autoOrient: size, orientation = 1, format, isProgressive, icc, space } = metadata
  const profile = icc === undefined ? 'none' : classifyProfile(icc)
  return { size, orientation, isJpeg: format === 'jpeg', isProgressive, profile, space }
}

function classifyProfile(icc: Buffer) {
  if (hasElementChains(icc)) return 'ignored'
  return isSrgbProfile(icc) ? 'srgb' : 'other'
}

/**
 * Decodes the whole image so that its longer side is at most `sideMax` px. The ICC profile is applied
 * to the reduced image: for all pixels of a large image, a table of colours takes 2 to 4 s.
 */
async function decodeToSize(image: Sharp, from: ImageMetadata, sideMax: number): Promise<Frame> {
  const { profile, space } = from
  const reducedSpace = space === 'cmyk' || space === 'b-w' ? space : 'srgb'
  // Not for other spaces: after this call, libjpeg does not reduce a JPEG while it decodes it.
  if (space === 'cmyk' || space === 'rgb16') image.pipelineColourspace(reducedSpace)
  const reduced = image
    .resize({ width: sideMax, height: sideMax, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .raw()
  const converted =
    profile === 'other' || space === 'cmyk'
      ? reduced.clone().toColourspace(reducedSpace).withIccProfile('srgb')
      : reduced
  let { data, info } = await converted.toBuffer({ resolveWithObject: true })
  // An unusable profile leaves grey and CMYK as they are.
  if (info.channels !== 3) ({ data, info } = await reduced.toBuffer({ resolveWithObject: true }))
  return { width: info.width, height: info.height, pixels: data }
}

/** Scales `frame` to `size` px; pixels are averaged when it shrinks. */
export async function resizeFrame(frame: Frame, size: ImageSize): Promise<Frame> {
  const pixels = await openRawFrame(frame)
    .resize({ ...size, fit: 'fill', kernel: 'linear' })
    .raw()
    .toBuffer()
  return { ...size, pixels }
}

/** Adds a border of `border` px on every side, filled with the mirror image of `frame`. */
export async function padWithMirror(frame: Frame, border: number): Promise<Frame> {
  const sides = { top: border, bottom: border, left: border, right: border }
  const pixels = await openRawFrame(frame)
    .extend({ ...sides, extendWith: 'mirror' })
    .raw()
    .toBuffer()
  return { width: frame.width + 2 * border, height: frame.height + 2 * border, pixels }
}

/** Encodes `frame` as a JPEG of quality 92, without chroma subsampling because crops are small. */
export function encodeJpeg(frame: Frame): Promise<Buffer> {
  return openRawFrame(frame).jpeg({ quality: 92, chromaSubsampling: '4:4:4' }).toBuffer()
}

/**
 * A large JPEG is first decoded to this longer side. It is enough for detectors (at most 512 px) and
 * for large faces; small faces use the high-resolution frame. For a photograph of 12 megapixels the
 * small frame takes 19 ms and the high-resolution frame 59 ms. libjpeg saves work from a quarter of
 * the size on; decoding to half the size is slower than decoding in full. A progressive JPEG is decoded
 * once, because its scans take most of the time at every size.
 */
const draftSidePx = 640
const draftedSidePxMin = 4 * draftSidePx

/**
 * The longer side of the high-resolution frame, px. Detectors use 512 px. The smallest face that
 * they find there (12 px) has 48 px here. On faces of 4 % of the side, landmarks differ from those
 * at 4096 px by 1.8 % of the distance between the eyes, as between any two sizes. A JPEG of forty
 * megapixels takes 70 ms and 9 MB instead of 180 ms at 4096 px.
 */
export const frameSidePxMax = 2048

function openRawFrame({ pixels, width, height }: Frame): Sharp {
  return sharp(pixels, { raw: { width, height, channels: 3 } })
}

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

/** Pixels in memory: 8-bit sRGB, interleaved R G B, row by row from the top, no padding. */
export type Frame = {
  /** px */
  readonly width: number
  readonly height: number
  /** width × height × 3 values, 0..255. */
  readonly pixels: Uint8Array
}

/** A decoded image with its EXIF orientation applied. */
export type OrientedImage = {
  /** Size of the whole oriented image, px. */
  readonly width: number
  readonly height: number
  readonly orientationApplied: boolean
  /** The whole image at the smallest size that face detection needs. */
  readonly frame: Frame
  /** px of the high-resolution frame per px of `frame`, ≥ 1. */
  readonly highResScale: number
  /** Returns the whole image with more pixels, for small faces; decoded at the first call. */
  readonly highResFrame: () => Promise<Frame>
}
