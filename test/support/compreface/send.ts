import type { FakePerson } from '../gallery/fake-vision.ts'
import { fakeImage } from '../gallery/fake-vision.ts'
import type { GalleryClient } from '../gallery/test-gallery.ts'

/** Sends a request as clients of CompreFace do. */
export async function sendCompreFace(
  client: Pick<GalleryClient, 'url' | 'key'>,
  method: string,
  target: string,
  body?: object | string,
) {
  const isRaw = body instanceof FormData || body instanceof Uint8Array || typeof body === 'string'
  const response = await fetch(`${client.url}${target}`, {
    method,
    headers: { 'x-api-key': client.key, ...(!isRaw && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
  })
  // oxlint-disable-next-line typescript/no-explicit-any
  const parsed: any = await response.json()
  return { status: response.status, headers: response.headers, body: parsed }
}

/** Returns the JSON body with an image for the fake vision. */
export const fakeImageFile = (...names: (FakePerson | string)[]): { readonly file: string } => ({
  file: fakeImage(...names).bytes.toString('base64'),
})
