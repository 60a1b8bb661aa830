import path from 'node:path'
import type { PackManifest, PackModel } from '../pack.ts'
import type { Offer } from './offer.ts'

/** One file that an installation needs. */
export type NeededFile = {
  /** What it is called where it is fetched to; no two files of a pack are called the same. */
  readonly name: string
  /** What it is called where it comes from. */
  readonly called: string
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
    ...madeFor(model).map((file) => ({
      ...file,
      called: file.name,
      source: beside(offer, file.name),
    })),
  ])
  return [...new Map(files.map((file) => [file.name, file])).values()]
}

/** The file of weights of a model: its ONNX file itself, or what that is made of. */
export function weightsOf(offer: Offer, model: PackModel): NeededFile {
  const { source, file } = model
  if (!source)
    return { name: file, called: file, sha256: model.sha256, source: beside(offer, file) }
  return {
    name: source.format.kind === 'onnx' ? file : `${file}.weights`,
    called: isAddress(source.url) ? lastOf(source.url) || file : source.url,
    sha256: source.sha256,
    source: isAddress(source.url) ? { url: source.url } : beside(offer, source.url),
  }
}

/** The bytes of all sources; null when one does not say. */
export function sourceBytes({ models }: PackManifest): number | null {
  return models.reduce<number | null>((sum, { source }) => {
    const bytes = source?.bytes ?? null
    return sum === null || bytes === null ? null : sum + bytes
  }, 0)
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

/** The last part of an address, as a plain file name. */
function lastOf(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? ''
  return last.replaceAll(/[^A-Za-z0-9._-]/gu, '_')
}

function isAddress(text: string): boolean {
  return /^https?:\/\//u.test(text)
}
