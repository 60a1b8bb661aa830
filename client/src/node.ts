import { readFile } from 'node:fs/promises'
import { createPlatformClient, type PlatformClient } from './platform-client.ts'
import { FacegateError } from './facegate-error.ts'
import {
  fileNameOf,
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
  read: async (source) => (isPath(source) ? readImageFile(source) : readBytes(source)),
  nameOf: (source) => (isPath(source) ? String(source) : fileNameOf(source)),
  toBase64: ({ buffer, byteOffset, byteLength }) =>
    Buffer.from(buffer, byteOffset, byteLength).toString('base64'),
}

function isPath(source: NodeImageSource): source is string | URL {
  return typeof source === 'string' || source instanceof URL
}

/** @throws FacegateError FILE_NOT_READABLE that names the file. */
async function readImageFile(file: string | URL): Promise<Uint8Array> {
  try {
    return await readFile(file)
  } catch (cause) {
    const reason = reasonOf(cause)
    throw new FacegateError(
      [{ code: 'FILE_NOT_READABLE', message: `${String(file)} cannot be read: ${reason}` }],
      { cause },
    )
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'the permission is missing',
  EPERM: 'the permission is missing',
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : ''
  return reasons[code] ?? error.message
}
