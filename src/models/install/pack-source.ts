import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { catalogue } from '../catalogue/catalogue.ts'
import { manifestFileName, parseManifest } from '../installed-packs.ts'
import type { PackManifest } from '../pack-manifest.ts'
import { checkUrl } from './check-url.ts'
import { PermanentDownloadError } from './permanent-download-error.ts'

/** A pack that can be installed. */
export type PackSource = {
  readonly manifest: PackManifest
  /** What the manifest was read from: files without an address lie beside it. */
  readonly origin:
    | { readonly kind: 'catalogue' }
    | { readonly kind: 'folder'; readonly folder: string }
    | { readonly kind: 'address'; readonly url: URL }
}

/**
 * Finds a pack by its name in the catalogue, by the folder that it lies in, or by the address of its
 * `pack.json`.
 *
 * @throws Error that says why there is no such pack.
 */
export async function findPackSource(wanted: string): Promise<PackSource> {
  if (/^https?:\/\//u.test(wanted)) return fetchUrlSource(checkUrl(new URL(wanted)))
  const isFolder = await stat(wanted).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (isFolder && /[/\\.]/u.test(wanted)) return readFolderSource(path.resolve(wanted))
  const manifest = catalogue.find(({ name }) => name === wanted)
  if (manifest) return { manifest, origin: { kind: 'catalogue' } }
  if (isFolder) return readFolderSource(path.resolve(wanted))
  const names = catalogue.map(({ name }) => name).join(', ')
  throw new Error(`there is no pack ${wanted}: name a folder, an address, or one of ${names}`)
}

async function readFolderSource(folder: string): Promise<PackSource> {
  const place = path.join(folder, manifestFileName)
  const text = await readFile(place, 'utf8').catch((cause: unknown) => {
    throw new Error(`the folder ${folder} has no ${manifestFileName}`, { cause })
  })
  return { manifest: parseManifest(text, place), origin: { kind: 'folder', folder } }
}

const manifestBytesMax = 1_048_576
const manifestMsMax = 30_000

async function fetchUrlSource(url: URL): Promise<PackSource> {
  const signal = AbortSignal.timeout(manifestMsMax)
  const answer = await fetch(url, { redirect: 'error', signal }).catch((cause: unknown) => {
    throw new Error(`cannot fetch ${url.href}`, { cause })
  })
  if (answer.status !== 200)
    throw new PermanentDownloadError(`${url.href} answered ${answer.status}`)
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of answer.body ?? []) {
    bytes += piece.length
    if (bytes > manifestBytesMax)
      throw new PermanentDownloadError(`${url.href} is too large for a manifest`)
    pieces.push(piece)
  }
  const text = Buffer.concat(pieces).toString()
  return { manifest: parseManifest(text, url.href), origin: { kind: 'address', url } }
}
