import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Log } from '../../lib/log.ts'
import { builtinPack } from './builtin-pack.ts'
import { convertModel } from '../convert/convert-model.ts'
import type { BuiltinModel, BuiltinModelId } from './builtin-model.ts'
import { readArtifactState, removeUnfinishedFiles, writeFileAtomic } from '../artifact-file.ts'
import { installedPackageFolder, readSource, sha256Of } from '../convert/read-source.ts'
import type { ResolvePackageFolder } from '../convert/read-source.ts'

export type PrepareOptions = {
  /** Where the ONNX files lie; made if need be. */
  readonly folder: string
  readonly onProgress?: (progress: PrepareProgress) => void
  /** Hears the name of every file that is missing or damaged. */
  readonly log?: Pick<Log, 'debug' | 'warn'>
  /** The models to prepare: all of the built-in pack. */
  readonly models?: readonly BuiltinModel[]
  /** Where the sources lie: in the installed packages. */
  readonly resolvePackageFolder?: ResolvePackageFolder
}

/** `done` of `total` models are in place, `id` the last of them. */
export type PrepareProgress = {
  readonly done: number
  readonly total: number
  readonly id: BuiltinModelId
  readonly outcome: 'converted' | 'verified'
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
export async function prepareBuiltinPack({
  folder,
  onProgress,
  log,
  models = Object.values(builtinPack.models),
  resolvePackageFolder: packageFolder = installedPackageFolder,
}: PrepareOptions): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const file of await removeUnfinishedFiles(folder))
    log?.debug({ file }, 'the unfinished file of an earlier start is removed')
  for (const [index, entry] of models.entries()) {
    const place = path.join(folder, entry.artifact.file)
    const state = await readArtifactState(place, entry.artifact.sha256)
    if (state !== 'whole') {
      const report = { model: entry.id, file: place, state }
      if (state === 'damaged') log?.warn(report, 'a model file is damaged: it is made again')
      else log?.debug(report, 'a model file is missing: it is made')
      await writeFileAtomic(place, await convertArtifact(entry, packageFolder))
    }
    const what = state === 'whole' ? 'verified' : 'converted'
    onProgress?.({ done: index + 1, total: models.length, id: entry.id, outcome: what })
  }
}

async function convertArtifact(
  entry: BuiltinModel,
  packageFolder: ResolvePackageFolder,
): Promise<Uint8Array> {
  const product = convertModel(entry, await readSource(entry, packageFolder))
  const sha256 = sha256Of(product)
  if (sha256 !== entry.artifact.sha256)
    throw new Error(
      `the conversion of ${entry.id} gave another ${entry.artifact.file} than expected ` +
        `(sha256 ${sha256}, expected ${entry.artifact.sha256})`,
    )
  return product
}
