import { createPlatformClient, type PlatformClient as ClientOf } from './platform-client.ts'
import { webPlatform, type Image } from './image/to-image-item.ts'
import type { ClientOptions } from './options.ts'

export type Client = ClientOf<Image>

/**
 * A client for browsers and edge runtimes, where a picture is bytes.
 *
 * @throws TypeError that names the option that is wrong.
 */
export function createClient(options: ClientOptions): Client {
  return createPlatformClient(options, webPlatform)
}

export type { Image } from './image/to-image-item.ts'
export * from './exports.ts'
