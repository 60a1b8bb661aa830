import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { catalogue } from '../catalogue.ts'
import { manifestFile, parseManifest } from '../installed.ts'
import type { PackManifest } from '../pack.ts'
import { checkAddress } from './address.ts'
import { RefusedError } from './refused-error.ts'

/** A pack that can be installed. */
export type Offer = {
  readonly manifest: PackManifest
  /** What the manifest was read from: files without an address lie beside it. */
  readonly from:
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
export async function findOffer(wanted: string): Promise<Offer> {
  if (/^https?:\/\//u.test(wanted)) return offerAt(checkAddress(new URL(wanted)))
  const isFolder = await stat(wanted).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (isFolder && /[/\\.]/u.test(wanted)) return offerIn(path.resolve(wanted))
  const manifest = catalogue.find(({ name }) => name === wanted)
  if (manifest) return { manifest, from: { kind: 'catalogue' } }
  if (isFolder) return offerIn(path.resolve(wanted))
  const names = catalogue.map(({ name }) => name).join(', ')
  throw new Error(`there is no pack ${wanted}: name a folder, an address, or one of ${names}`)
}

async function offerIn(folder: string): Promise<Offer> {
  const place = path.join(folder, manifestFile)
  const text = await readFile(place, 'utf8').catch((cause: unknown) => {
    throw new Error(`the folder ${folder} has no ${manifestFile}`, { cause })
  })
  return { manifest: parseManifest(text, place), from: { kind: 'folder', folder } }
}

const manifestBytesMax = 1_048_576
const manifestMsMax = 30_000

async function offerAt(url: URL): Promise<Offer> {
  const signal = AbortSignal.timeout(manifestMsMax)
  const answer = await fetch(url, { redirect: 'error', signal }).catch((cause: unknown) => {
    throw new Error(`cannot fetch ${url.href}`, { cause })
  })
  if (answer.status !== 200) throw new RefusedError(`${url.href} answered ${answer.status}`)
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of answer.body ?? []) {
    bytes += piece.length
    if (bytes > manifestBytesMax) throw new RefusedError(`${url.href} is too large for a manifest`)
    pieces.push(piece)
  }
  const text = Buffer.concat(pieces).toString()
  return { manifest: parseManifest(text, url.href), from: { kind: 'address', url } }
}
