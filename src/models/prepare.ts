import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Log } from '../lib/log.ts'
import { builtinPack } from './builtin.ts'
import { convertModel } from './convert.ts'
import type { ModelEntry, ModelId } from './manifest.ts'
import { productState, removeLeftovers, writeProduct } from './product.ts'
import { installedPackage, readSource, sha256Of } from './source.ts'
import type { PackageFolder } from './source.ts'

export type PrepareOptions = {
  /** Where the ONNX files lie; made if need be. */
  readonly folder: string
  readonly onProgress?: (progress: PackProgress) => void
  /** Hears the name of every file that is missing or damaged. */
  readonly log?: Pick<Log, 'debug' | 'warn'>
  /** The models to prepare: all of the built-in pack. */
  readonly models?: readonly ModelEntry[]
  /** Where the sources lie: in the installed packages. */
  readonly packageFolder?: PackageFolder
}

/** `done` of `total` models are in place, `id` the last of them. */
export type PackProgress = {
  readonly done: number
  readonly total: number
  readonly id: ModelId
  readonly what: 'converted' | 'verified'
}

/**
 * Makes `folder` hold every file of the pack, whole and right.
 *
 * Every product is checked by its sha256, at every start; one that is missing or damaged is named in
 * the log and converted again. A folder may be prepared by several starts at once: all write the same
 * bytes, each under a name of its own until they are complete.
 *
 * @throws when a product must be made and its source is missing or altered, naming the file: a start
 * must then refuse, as the alternative is another network than the one that was measured.
 */
export async function preparePack({
  folder,
  onProgress,
  log,
  models = Object.values(builtinPack.models),
  packageFolder = installedPackage,
}: PrepareOptions): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const file of await removeLeftovers(folder))
    log?.debug({ file }, 'the unfinished file of an earlier start is removed')
  for (const [index, entry] of models.entries()) {
    const place = path.join(folder, entry.product.file)
    const state = await productState(place, entry.product.sha256)
    if (state !== 'whole') {
      const report = { model: entry.id, file: place, state }
      if (state === 'damaged') log?.warn(report, 'a model file is damaged: it is made again')
      else log?.debug(report, 'a model file is missing: it is made')
      await writeProduct(place, await makeProduct(entry, packageFolder))
    }
    const what = state === 'whole' ? 'verified' : 'converted'
    onProgress?.({ done: index + 1, total: models.length, id: entry.id, what })
  }
}

async function makeProduct(entry: ModelEntry, packageFolder: PackageFolder): Promise<Uint8Array> {
  const product = convertModel(entry, await readSource(entry, packageFolder))
  const sha256 = sha256Of(product)
  if (sha256 !== entry.product.sha256)
    throw new Error(
      `the conversion of ${entry.id} gave another ${entry.product.file} than expected ` +
        `(sha256 ${sha256}, expected ${entry.product.sha256})`,
    )
  return product
}
