import { existsSync } from 'node:fs'
import path from 'node:path'
import { calibrationFilesOf } from '../decoding.ts'
import { catalogueFolder } from '../catalogue/catalogue.ts'
import type { PackManifest, PackModel } from '../pack-manifest.ts'
import type { PackSource } from './pack-source.ts'

/** One file that an installation needs. */
export type RequiredFile = {
  /** File name in the staging folder, unique within the pack. */
  readonly name: string
  /** File name at the source. */
  readonly sourceName: string
  /** Checksum of the fetched file; null when unknown. */
  readonly sha256: string | null
  /** The location; undefined: the user must provide the file. */
  readonly source: { readonly url: string } | { readonly path: string } | undefined
}

/**
 * Lists the files of a pack and their sources: for each model the file of weights, then the cohort
 * and the similarity table, which are beside the manifest.
 */
export function requiredFiles(packSource: PackSource): readonly RequiredFile[] {
  const files = packSource.manifest.models.flatMap((model) => [
    weightsFileOf(packSource, model),
    ...calibrationFilesOf(model.decoding).map(({ file, sha256 }) => ({
      name: file,
      sourceName: file,
      sha256,
      source: siblingSource(packSource, file),
    })),
  ])
  return [...new Map(files.map((file) => [file.name, file])).values()]
}

/** The file of weights of a model: its ONNX file, or the file that is converted to it. */
export function weightsFileOf(packSource: PackSource, model: PackModel): RequiredFile {
  const { source, file } = model
  if (!source)
    return {
      name: file,
      sourceName: file,
      sha256: model.sha256,
      source: siblingSource(packSource, file),
    }
  return {
    name: source.format.kind === 'onnx' ? file : `${file}.weights`,
    sourceName: isUrl(source.url) ? lastPathSegment(source.url) || file : source.url,
    sha256: source.sha256,
    source: isUrl(source.url) ? { url: source.url } : siblingSource(packSource, source.url),
  }
}

/** The total size of all downloads; null when the size of one is unknown. */
export function totalSourceBytes({ models }: PackManifest): number | null {
  return models.reduce<number | null>((sum, { source }) => {
    const bytes = source?.bytes ?? null
    return sum === null || bytes === null ? null : sum + bytes
  }, 0)
}

/** The location of a file beside the manifest. */
function siblingSource({ origin }: PackSource, name: string): RequiredFile['source'] {
  if (origin.kind === 'url') return { url: new URL(name, origin.url).href }
  const file = path.join(origin.kind === 'folder' ? origin.folder : catalogueFolder, name)
  return origin.kind === 'folder' || existsSync(file) ? { path: file } : undefined
}

/** The last segment of the path of a URL, as a plain file name. */
function lastPathSegment(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? ''
  return last.replaceAll(/[^A-Za-z0-9._-]/gu, '_')
}

function isUrl(text: string): boolean {
  return /^https?:\/\//u.test(text)
}
