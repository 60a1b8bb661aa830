import { readFile } from 'node:fs/promises'
import { clientFor, type Client as ClientOf } from './client.ts'
import { bytesOf, type DescribedImage, type ImageBytes, type Platform } from './image.ts'
import type { ClientOptions } from './options.ts'

/** The bytes of a JPEG or PNG, or the path or `file:` URL of one. */
type Source = ImageBytes | string | URL

export type Image = Source | DescribedImage<Source>

export type Client = ClientOf<Image>

/**
 * A client for Node, where a picture may also be named by the path of its file.
 *
 * @throws TypeError that names the option that is wrong.
 */
export function createClient(options: ClientOptions): Client {
  return clientFor(options, nodePlatform)
}

export * from './exports.ts'

const nodePlatform: Platform<Source> = {
  read: async (source) =>
    typeof source === 'string' || source instanceof URL ? readFile(source) : bytesOf(source),
  toBase64: ({ buffer, byteOffset, byteLength }) =>
    Buffer.from(buffer, byteOffset, byteLength).toString('base64'),
}
