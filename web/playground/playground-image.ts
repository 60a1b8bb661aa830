/** A picture in the memory of the browser, and nowhere else. */
export type PlaygroundImage = {
  readonly id: string
  readonly name: string
  readonly contentType: string
  /** Base64, as it is sent. */
  readonly base64: string
  /** Upright; nothing when the browser cannot show the format, which the service may still read. */
  readonly bitmap: ImageBitmap | undefined
}

/** Reads a picture that was chosen, dropped, pasted or taken. */
export async function readPlaygroundImage(file: File): Promise<PlaygroundImage> {
  return {
    id: `${file.name} ${file.size} ${performance.now()}`,
    name: file.name || 'picture',
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
    const address = typeof reader.result === 'string' ? reader.result : ''
    resolve(address.slice(address.indexOf(',') + 1))
  })
  reader.addEventListener('error', () => reject(new Error('the file cannot be read')))
  reader.readAsDataURL(file)
  return promise
}
