import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import path from 'node:path'
import type { SourceBytes } from './convert-model.ts'
import type { BuiltinModel, ConversionSource, SourceFile } from '../builtin/builtin-model.ts'

/** Where the files of a package lie. */
export type ResolvePackageFolder = (name: ConversionSource['package']) => string

/** The folder of an installed package, whatever the working directory is. */
export const installedPackageFolder: ResolvePackageFolder = (name) => {
  const file = findPackageJSON(name, import.meta.url)
  if (!file) throw new Error(`the package ${name} is not installed`)
  return path.dirname(file)
}

/**
 * Reads the two files that a model is made from.
 *
 * @throws naming the file that is missing, or that is not the one of the manifest.
 */
export async function readSource(
  { source }: BuiltinModel,
  packageFolder: ResolvePackageFolder = installedPackageFolder,
): Promise<SourceBytes> {
  const folder = packageFolder(source.package)
  const [manifest, weights] = await Promise.all([
    readSourceFile(folder, source.manifest),
    readSourceFile(folder, source.weights),
  ])
  return { manifest, weights }
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function readSourceFile(folder: string, file: SourceFile): Promise<Uint8Array> {
  const place = path.join(folder, file.path)
  const bytes = await readFile(place).catch((cause: unknown) => {
    throw new Error(`cannot read the model source ${place}: install the packages again`, { cause })
  })
  const sha256 = sha256Of(bytes)
  if (sha256 !== file.sha256)
    throw new Error(
      `the model source ${place} was altered (sha256 ${sha256}, expected ${file.sha256}): ` +
        'install the packages again',
    )
  return bytes
}
