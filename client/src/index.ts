import { createPlatformClient, type PlatformClient } from './platform-client.ts'
import { webPlatform, type Image } from './image/to-image-item.ts'
import type { ClientOptions } from './options.ts'

export type Client = PlatformClient<Image>

/**
 * Creates a client for browsers and edge runtimes, where an image is bytes.
 *
 * @throws TypeError that names the invalid option.
 */
export function createClient(options: ClientOptions): Client {
  return createPlatformClient(options, webPlatform)
}

export type { Image } from './image/to-image-item.ts'
export * from './exports.ts'
