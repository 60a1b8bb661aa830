import {
  contentTypeOf,
  headBytes,
  refusalOf,
  type ImageFileFacts,
  type FileLimits,
} from './image-refusal.ts'

/** An image in the memory of the browser. */
export type PlaygroundImage = {
  readonly id: string
  readonly name: string
  readonly contentType: string
  /** The base64 text that the call sends. */
  readonly base64: string
  /** Upright. Undefined if the browser cannot display the format. */
  readonly bitmap: ImageBitmap | undefined
  /** Pixels of the upright image. */
  readonly width: number
  readonly height: number
}

/** Reads an image file. */
export async function readImageFile(file: File): Promise<PlaygroundImage> {
  return toImage(file, await readFacts(file))
}

/** Reads an image file, unless the service would refuse it: then the reason with its remedy. */
export async function readCheckedFile(
  file: File,
  limits: FileLimits,
): Promise<{ readonly image: PlaygroundImage } | { readonly refusal: string }> {
  const facts = await readFacts(file, limits.imageBytesMax)
  const refusal = refusalOf(facts, limits)
  return refusal === undefined ? { image: await toImage(file, facts) } : { refusal }
}

type DecodedFacts = ImageFileFacts & { readonly bitmap: ImageBitmap | undefined }

/** Decodes the file if it is a picture of at most that many bytes. */
async function readFacts(file: File, bytesMax = Infinity): Promise<DecodedFacts> {
  const head = new Uint8Array(await file.slice(0, headBytes).arrayBuffer())
  const isPicture = contentTypeOf(head) !== undefined && file.size <= bytesMax
  const decode = () => createImageBitmap(file, { imageOrientation: 'from-image' })
  const bitmap = isPicture ? await decode().catch(() => undefined) : undefined
  const size = bitmap && { width: bitmap.width, height: bitmap.height }
  return { name: file.name || 'image', bytes: file.size, head, size, bitmap }
}

async function toImage(
  file: File,
  { name, head, size, bitmap }: DecodedFacts,
): Promise<PlaygroundImage> {
  return {
    id: crypto.randomUUID(),
    name,
    contentType: contentTypeOf(head) ?? file.type,
    base64: await base64Of(file),
    bitmap,
    width: size?.width ?? 0,
    height: size?.height ?? 0,
  }
}

async function base64Of(file: Blob): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const reader = new FileReader()
  reader.addEventListener('load', () => {
    const dataUrl = typeof reader.result === 'string' ? reader.result : ''
    resolve(dataUrl.slice(dataUrl.indexOf(',') + 1))
  })
  reader.addEventListener('error', () => reject(new Error('The file cannot be read.')))
  reader.readAsDataURL(file)
  return promise
}

/** Returns the item of `params.images` for an image. */
export function toImageItem({ contentType, base64 }: PlaygroundImage) {
  return { kind: 'image', contentType, bytes: base64 }
}
