/** An image in the memory of the browser. */
export type PlaygroundImage = {
  readonly id: string
  readonly name: string
  readonly contentType: string
  /** The base64 text that the call sends. */
  readonly base64: string
  /** Upright. Undefined if the browser cannot display the format; the service may still read it. */
  readonly bitmap: ImageBitmap | undefined
}

/** Reads an image file. */
export async function readPlaygroundImage(file: File): Promise<PlaygroundImage> {
  return {
    id: `${file.name} ${file.size} ${performance.now()}`,
    name: file.name || 'image',
    contentType: file.type || 'image/jpeg',
    base64: await base64Of(file),
    bitmap: await createImageBitmap(file, { imageOrientation: 'from-image' }).catch(
      () => undefined,
    ),
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
