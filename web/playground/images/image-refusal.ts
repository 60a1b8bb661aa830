import type { PlaygroundSettings } from '../../api/responses.ts'
import { formatBytes, formatCount } from '../../format/numbers.ts'

export type FileLimits = Omit<PlaygroundSettings, 'falseMatchRates'>

export type ImageFileFacts = {
  readonly name: string
  readonly bytes: number
  /** The first bytes of the file. */
  readonly head: Uint8Array
  /** Undefined if the browser cannot decode the file. */
  readonly size: { readonly width: number; readonly height: number } | undefined
}

/** The bytes at the start of a file that its type is detected from. */
export const headBytes = 8

const signatures = [
  { contentType: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  { contentType: 'image/png', bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
] as const

/** Returns the content type of a file by its first bytes; undefined if it is neither JPEG nor PNG. */
export function contentTypeOf(head: Uint8Array): 'image/jpeg' | 'image/png' | undefined {
  return signatures.find(({ bytes }) => bytes.every((byte, index) => head[index] === byte))
    ?.contentType
}

/** Returns why the service would refuse a file, with the remedy; undefined if it would not. */
export function refusalOf(file: ImageFileFacts, limits: FileLimits): string | undefined {
  const { name, bytes, head, size } = file
  if (bytes === 0) return `${name} is empty. Choose the file that the camera wrote.`
  if (contentTypeOf(head) === undefined)
    return `${name} is neither JPEG nor PNG. Convert it to JPEG or PNG.`
  if (bytes > limits.imageBytesMax)
    return `${name} has ${formatBytes(bytes)}; at most ${formatBytes(limits.imageBytesMax)} are accepted. Scale it down or compress it more.`
  if (size === undefined)
    return `${name} is damaged: this browser cannot decode it. Choose the file that the camera wrote.`
  const { width, height } = size
  const sizeText = `${name} has ${width} × ${height} pixels`
  if (width * height > limits.imagePixelsMax)
    return `${sizeText}; at most ${formatCount(limits.imagePixelsMax)} are accepted. Scale it down.`
  if (Math.min(width, height) < limits.imageSideMinPx)
    return `${sizeText}; each side needs at least ${limits.imageSideMinPx}. Choose a larger picture.`
  return undefined
}

type SizedImage = { readonly name: string; readonly base64: string }

export type FittedImages<Image> = {
  readonly accepted: readonly Image[]
  readonly refusals: readonly string[]
}

/** The bytes of a request beside its images. */
const otherBytes = 16 * 1024

/**
 * Adds images up to the most of the call and the largest request. With a single image, the new one
 * replaces the old one.
 */
export function fitImages<Image extends SizedImage>(
  current: readonly Image[],
  added: readonly Image[],
  { countMax, bodyBytesMax }: { readonly countMax: number; readonly bodyBytesMax: number },
): FittedImages<Image> {
  const accepted = countMax === 1 && added.length > 0 ? [] : [...current]
  const refusals: string[] = []
  let bytes = accepted.reduce((sum, { base64 }) => sum + base64.length, otherBytes)
  for (const image of added) {
    bytes += image.base64.length
    if (accepted.length >= countMax)
      refusals.push(
        `${image.name} was not added: the call takes ${countMax === 1 ? 'one image' : `at most ${countMax} images`}. Remove another image first.`,
      )
    else if (bytes > bodyBytesMax)
      refusals.push(
        `${image.name} was not added: together the images exceed a request of ${formatBytes(bodyBytesMax)}. Scale them down or send fewer.`,
      )
    else {
      accepted.push(image)
      continue
    }
    bytes -= image.base64.length
  }
  return { accepted, refusals }
}
