import path from 'node:path'
import type { PackManifest, PackModel } from '../pack-manifest.ts'
import type { PackSource } from './pack-source.ts'

/** One file that an installation needs. */
export type RequiredFile = {
  /** What it is called where it is fetched to; no two files of a pack are called the same. */
  readonly name: string
  /** What it is called where it comes from. */
  readonly sourceName: string
  /** Of the file as it comes; null where it is not known. */
  readonly sha256: string | null
  /** Where it is; undefined: only the user has it. */
  readonly source: { readonly url: string } | { readonly place: string } | undefined
}

/**
 * The files of a pack and where each comes from. The file of weights first, then what was made for
 * it: cohort and table of similarities, which lie beside the manifest.
 */
export function requiredFiles(offer: PackSource): readonly RequiredFile[] {
  const files = offer.manifest.models.flatMap((model) => [
    weightsFileOf(offer, model),
    ...calibrationFilesOf(model).map((file) => ({
      ...file,
      sourceName: file.name,
      source: siblingSource(offer, file.name),
    })),
  ])
  return [...new Map(files.map((file) => [file.name, file])).values()]
}

/** The file of weights of a model: its ONNX file itself, or what that is made of. */
export function weightsFileOf(offer: PackSource, model: PackModel): RequiredFile {
  const { source, file } = model
  if (!source)
    return {
      name: file,
      sourceName: file,
      sha256: model.sha256,
      source: siblingSource(offer, file),
    }
  return {
    name: source.format.kind === 'onnx' ? file : `${file}.weights`,
    sourceName: isUrl(source.url) ? lastPathSegment(source.url) || file : source.url,
    sha256: source.sha256,
    source: isUrl(source.url) ? { url: source.url } : siblingSource(offer, source.url),
  }
}

/** The bytes of all sources; null when one does not say. */
export function totalSourceBytes({ models }: PackManifest): number | null {
  return models.reduce<number | null>((sum, { source }) => {
    const bytes = source?.bytes ?? null
    return sum === null || bytes === null ? null : sum + bytes
  }, 0)
}

function calibrationFilesOf({
  decoding,
}: PackModel): readonly Pick<RequiredFile, 'name' | 'sha256'>[] {
  if (decoding.kind !== 'arcface') return []
  const { cohort, calibration } = decoding
  return [
    ...(cohort ? [{ name: cohort.file, sha256: cohort.sha256 }] : []),
    ...(calibration === undefined ? [] : [{ name: calibration, sha256: null }]),
  ]
}

function siblingSource({ origin: from }: PackSource, name: string): RequiredFile['source'] {
  if (from.kind === 'folder') return { place: path.join(from.folder, name) }
  return from.kind === 'address' ? { url: new URL(name, from.url).href } : undefined
}

/** The last part of an address, as a plain file name. */
function lastPathSegment(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? ''
  return last.replaceAll(/[^A-Za-z0-9._-]/gu, '_')
}

function isUrl(text: string): boolean {
  return /^https?:\/\//u.test(text)
}
