import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { catalogue } from '../catalogue/catalogue.ts'
import { manifestFileName, parseManifest } from '../installed-packs.ts'
import type { PackManifest } from '../pack-manifest.ts'
import { checkUrl, PermanentDownloadError } from './check-url.ts'

/** A pack that can be installed. */
export type PackSource = {
  readonly manifest: PackManifest
  /** The origin of the manifest. Files without a download address are beside it. */
  readonly origin:
    | { readonly kind: 'catalogue' }
    | { readonly kind: 'folder'; readonly folder: string }
    | { readonly kind: 'url'; readonly url: URL }
}

/**
 * Finds a pack.
 *
 * @param location a name in the catalogue, a folder, or the URL of a `pack.json`.
 * @throws Error that states why there is no such pack.
 */
export async function findPackSource(location: string): Promise<PackSource> {
  if (/^https?:\/\//u.test(location)) return fetchUrlSource(checkUrl(new URL(location)))
  const isFolder = await stat(location).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
  if (isFolder && /[/\\.]/u.test(location)) return readFolderSource(path.resolve(location))
  const manifest = catalogue.find(({ name }) => name === location)
  if (manifest) return { manifest, origin: { kind: 'catalogue' } }
  if (isFolder) return readFolderSource(path.resolve(location))
  const names = catalogue.map(({ name }) => name).join(', ')
  throw new Error(`there is no pack ${location}: pass a folder, a URL, or one of ${names}`)
}

async function readFolderSource(folder: string): Promise<PackSource> {
  const filePath = path.join(folder, manifestFileName)
  const noManifest = (cause?: unknown) =>
    new Error(`the folder ${folder} has no ${manifestFileName}`, { cause })
  // The read of a pipe may never end.
  const file = await stat(filePath).catch((cause: unknown) => {
    throw noManifest(cause)
  })
  if (!file.isFile() || file.size > manifestBytesMax)
    throw new Error(`${filePath} is not a file of at most ${manifestBytesMax} bytes`)
  const text = await readFile(filePath, 'utf8').catch((cause: unknown) => {
    throw noManifest(cause)
  })
  return { manifest: parseManifest(text, filePath), origin: { kind: 'folder', folder } }
}

const manifestBytesMax = 1_048_576
const manifestTimeoutMs = 30_000

async function fetchUrlSource(url: URL): Promise<PackSource> {
  const signal = AbortSignal.timeout(manifestTimeoutMs)
  const response = await fetch(url, { redirect: 'error', signal }).catch((cause: unknown) => {
    throw new Error(
      `cannot download ${url.href}; download it and its files on another machine and pass their folder`,
      { cause },
    )
  })
  if (response.status !== 200)
    throw new PermanentDownloadError(`${url.href} returned HTTP ${response.status}`)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > manifestBytesMax)
      throw new PermanentDownloadError(`${url.href} is too large for a manifest`)
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString()
  return { manifest: parseManifest(text, url.href), origin: { kind: 'url', url } }
}
