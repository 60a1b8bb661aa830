import path from 'node:path'
import type { PackManifest, PackModel } from '../pack.ts'
import type { Offer } from './offer.ts'

/** One file that an installation needs. */
export type NeededFile = {
  /** What it is called while and where it is fetched to; a plain file name. */
  readonly name: string
  /** Of the file as it comes; null where it is not known. */
  readonly sha256: string | null
  /** Where it is; undefined: only the user has it. */
  readonly source: { readonly url: string } | { readonly place: string } | undefined
}

/**
 * The files of a pack and where each comes from. The file of weights first, then what was made for
 * it: cohort and table of similarities, which lie beside the manifest.
 */
export function neededFiles(offer: Offer): readonly NeededFile[] {
  const files = offer.manifest.models.flatMap((model) => [
    weightsOf(offer, model),
    ...madeFor(model).map((file) => ({ ...file, source: beside(offer, file.name) })),
  ])
  return [...new Map(files.map((file) => [file.name, file])).values()]
}

/** What the file of weights of a model is called as it comes. */
export function weightsName({ source, file }: PackModel): string {
  if (!source) return file
  const last = isAddress(source.url) ? new URL(source.url).pathname.split('/').at(-1) : source.url
  return decodeURIComponent(last ?? '').replaceAll(/[^A-Za-z0-9._-]/gu, '_') || file
}

/** The bytes of all sources; null when one does not say. */
export function sourceBytes({ models }: PackManifest): number | null {
  return models.reduce<number | null>((sum, { source }) => {
    const bytes = source?.bytes ?? null
    return sum === null || bytes === null ? null : sum + bytes
  }, 0)
}

function weightsOf(offer: Offer, model: PackModel): NeededFile {
  const name = weightsName(model)
  const { source } = model
  if (!source) return { name, sha256: model.sha256, source: beside(offer, name) }
  const at = isAddress(source.url) ? { url: source.url } : beside(offer, source.url)
  return { name, sha256: source.sha256, source: at }
}

function madeFor({ decoding }: PackModel): readonly Pick<NeededFile, 'name' | 'sha256'>[] {
  if (decoding.kind !== 'arcface') return []
  const { cohort, calibration } = decoding
  return [
    ...(cohort ? [{ name: cohort.file, sha256: cohort.sha256 }] : []),
    ...(calibration === undefined ? [] : [{ name: calibration, sha256: null }]),
  ]
}

function beside({ from }: Offer, name: string): NeededFile['source'] {
  if (from.kind === 'folder') return { place: path.join(from.folder, name) }
  return from.kind === 'address' ? { url: new URL(name, from.url).href } : undefined
}

function isAddress(text: string): boolean {
  return /^https?:\/\//u.test(text)
}
