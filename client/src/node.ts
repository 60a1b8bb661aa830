import { readFile } from 'node:fs/promises'
import { createPlatformClient, type PlatformClient } from './platform-client.ts'
import {
  readBytes,
  type DescribedImage,
  type ImageBytes,
  type Platform,
} from './image/to-image-item.ts'
import type { ClientOptions } from './options.ts'

/** The bytes of a JPEG or PNG, or the path or `file:` URL of one. */
type NodeImageSource = ImageBytes | string | URL

export type Image = NodeImageSource | DescribedImage<NodeImageSource>

export type Client = PlatformClient<Image>

/**
 * Creates a client for Node, where an image may also be the path of a file.
 *
 * @throws TypeError that names the invalid option.
 */
export function createClient(options: ClientOptions): Client {
  return createPlatformClient(options, nodePlatform)
}

export * from './exports.ts'

const nodePlatform: Platform<NodeImageSource> = {
  read: async (source) =>
    typeof source === 'string' || source instanceof URL ? readFile(source) : readBytes(source),
  toBase64: ({ buffer, byteOffset, byteLength }) =>
    Buffer.from(buffer, byteOffset, byteLength).toString('base64'),
}
