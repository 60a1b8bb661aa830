import { imageParams, type TestGallery } from '../gallery/test-gallery.ts'

export type Refusal = {
  readonly status: number
  readonly code?: string
  readonly path?: string
  /** Message and hint, or the detail. */
  readonly text: string
}

const send = async (
  gallery: TestGallery,
  path: string,
  {
    headers: extra,
    ...init
  }: Omit<RequestInit, 'headers'> & {
    readonly headers?: Readonly<Record<string, string>>
  },
): Promise<Refusal> => {
  const headers = { 'x-api-key': gallery.key, 'content-type': 'application/json', ...extra }
  const response = await fetch(gallery.url + path, { ...init, headers })
  const body = (await response.json()) as {
    detail?: string
    errors?: { code: string; message: string; path?: string; hint?: string }[]
  }
  const [error] = body.errors ?? []
  if (!error) return { status: response.status, text: body.detail ?? 'the call succeeded' }
  const { code, message, path: location, hint } = error
  const text = hint === undefined ? message : `${message} ${hint}`
  return { status: response.status, code, text, ...(location !== undefined && { path: location }) }
}

export const raw =
  (body: string, headers: Readonly<Record<string, string>> = {}) =>
  (gallery: TestGallery) =>
    send(gallery, '/v1/face/execute', { method: 'POST', body, headers })
export const anotherVersion = (path: string) => (gallery: TestGallery) =>
  send(gallery, path, { method: 'GET', headers: { 'x-api-version': '2' } })
export const envelope = (body: object) => raw(JSON.stringify(body))
export const call = (action: string, params: object) => envelope({ action, params })
export const rest = (method: string, path: string, body?: object) => (gallery: TestGallery) =>
  send(gallery, path, { method, ...(body && { body: JSON.stringify(body) }) })

export const anna = imageParams('anna')
export const [annaImage] = (anna as { images: object[] }).images
export const withImage = (fields: object) => ({ images: [{ ...annaImage, ...fields }] })
export const encoded = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64')
export const id = '0b9f1f9c-2e0e-4a7e-9d57-3c4b8a1d2e3f'
export const gif = encoded('GIF89a----------------')
export const pngHeader = encoded(
  Buffer.concat([
    Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
    Buffer.from('0000000a0000000a0802000000', 'hex'),
    Buffer.alloc(8),
  ]),
)

export type WrongCall = readonly [
  title: string,
  run: (gallery: TestGallery) => Promise<Refusal>,
  expected: Omit<Refusal, 'text' | 'status'> & { readonly status?: number },
  ...states: readonly string[],
]

export const invalid = (path: string) => ({ code: 'INVALID_REQUEST', path })
