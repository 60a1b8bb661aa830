import sharp, { type FormatEnum } from 'sharp'
import { ActionError } from '../../lib/errors.ts'
import type { ExtraImageType, ImageFileType } from '../../lib/image-types/image-types.ts'
import type { ImageLimits } from './input/encoded-image.ts'
import { avifPixelsMax, limitPixels, slowTypePixelsMax } from './input/pixel-limits.ts'
import { requireImageSize } from './input/validate-image.ts'
import { exceedsWebpFrames } from './input/webp-frames.ts'

/** The format of the decoder and its reader for each type. */
const decoders = {
  webp: { format: 'webp', loader: 'VipsForeignLoadWebp' },
  gif: { format: 'gif', loader: 'VipsForeignLoadNsgif' },
  // The prebuilt decoder reads AVIF only, not other HEIF files.
  avif: { format: 'heif', loader: 'VipsForeignLoadHeif' },
  tiff: { format: 'tiff', loader: 'VipsForeignLoadTiff' },
} as const satisfies Record<ExtraImageType, { format: keyof FormatEnum; loader: string }>

/** The most frames of an animation, or pages of a file. Only the first one is decoded. */
export const framesMax = 1000

/** Red, green, blue and transparency, or the four inks of a print. */
const channelsMax = 4

/** Eight and sixteen bits per channel. Pictures of cameras have no other samples. */
const sampleTypes: ReadonlySet<string> = new Set(['uchar', 'ushort'])

/** @throws Error if the decoder of this installation cannot read one of the types. */
export function requireDecoders(types: readonly ExtraImageType[]): void {
  const isReadable = (type: ExtraImageType) => sharp.format[decoders[type].format].input.buffer
  const missing = types.filter((type) => !isReadable(type))
  if (missing.length === 0) return
  const readable = Object.keys(decoders).filter((type) => isReadable(type as ExtraImageType))
  throw new Error(
    `IMAGE_TYPES_EXTRA: the decoder of this installation cannot read ${missing.join(', ')}; it reads ${readable.join(', ')}`,
  )
}

/** Returns the readers of the decoder for these types. */
export function loadersOf(types: readonly ExtraImageType[]): string[] {
  return types.map((type) => decoders[type].loader)
}

/**
 * Checks the header of a file that is neither JPEG nor PNG against the limits. The decoder reads the
 * header only, and no pixels.
 *
 * @throws ActionError IMAGE_DECODE_FAILED, UNSUPPORTED_IMAGE_TYPE, IMAGE_TOO_LARGE or IMAGE_TOO_SMALL.
 */
export async function checkExtraHeader(
  { bytes, type }: { readonly bytes: Buffer; readonly type: ImageFileType },
  limits: ImageLimits,
  path: string,
): Promise<void> {
  const field = `${path}.bytes`
  const tooManyFrames = () =>
    new ActionError('IMAGE_TOO_LARGE', `${field}: over ${framesMax} frames or pages`)
  if (type === 'WebP' && exceedsWebpFrames(bytes, framesMax)) throw tooManyFrames()
  // The limit of pixels is checked below, with the message of all types.
  const options = { failOn: 'warning', limitInputPixels: false } as const
  const header = await sharp(bytes, options)
    .metadata()
    .catch((cause: unknown) => {
      throw new ActionError('IMAGE_DECODE_FAILED', `${field}: damaged or truncated`, { cause })
    })
  const { width, height, channels, depth, pages = 1 } = header
  const pixelsMax = type === 'AVIF' ? avifPixelsMax : slowTypePixelsMax
  requireImageSize({ width, height }, limitPixels(limits, pixelsMax), field)
  if (pages > framesMax) throw tooManyFrames()
  if (channels > channelsMax || !sampleTypes.has(depth))
    throw new ActionError(
      'UNSUPPORTED_IMAGE_TYPE',
      `${field}: must have up to ${channelsMax} channels of 8 or 16 bits`,
    )
}
