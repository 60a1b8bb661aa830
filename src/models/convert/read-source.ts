import { readFile } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import path from 'node:path'
import type { BuiltinModel, ConversionSource, SourceFile } from '../builtin/builtin-model.ts'
import { sha256Of } from '../sha256.ts'

/** The complete content of the two source files of a model. */
export type SourceBytes = { readonly manifest: Uint8Array; readonly weights: Uint8Array }

/** Returns the folder of an npm package. */
export type ResolvePackageFolder = (name: ConversionSource['package']) => string

/** The folder of an installed package, independent of the working directory. */
export const installedPackageFolder: ResolvePackageFolder = (name) => {
  const file = findPackageJSON(name, import.meta.url)
  if (!file) throw new Error(`the package ${name} is not installed: run npm install`)
  return path.dirname(file)
}

/**
 * Reads the two source files of a model.
 *
 * @throws Error that names the missing or altered file.
 */
export async function readSource(
  { source }: BuiltinModel,
  resolvePackageFolder: ResolvePackageFolder = installedPackageFolder,
): Promise<SourceBytes> {
  const folder = resolvePackageFolder(source.package)
  const [manifest, weights] = await Promise.all([
    readSourceFile(folder, source.manifest),
    readSourceFile(folder, source.weights),
  ])
  return { manifest, weights }
}

async function readSourceFile(folder: string, file: SourceFile): Promise<Uint8Array> {
  const filePath = path.join(folder, file.path)
  const bytes = await readFile(filePath).catch((cause: unknown) => {
    throw new Error(`cannot read the model source ${filePath}: install the packages again`, {
      cause,
    })
  })
  const sha256 = sha256Of(bytes)
  if (sha256 !== file.sha256)
    throw new Error(
      `the model source ${filePath} was altered (sha256 ${sha256}, expected ${file.sha256}): ` +
        'install the packages again',
    )
  return bytes
}
