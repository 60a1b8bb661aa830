import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Log } from '../../lib/log.ts'
import { readArtifactState, removeUnfinishedFiles, writeFileAtomic } from '../artifact-file.ts'
import { convertModel } from '../convert/convert-model.ts'
import { installedPackageFolder, readSource } from '../convert/read-source.ts'
import type { ResolvePackageFolder } from '../convert/read-source.ts'
import { sha256Of } from '../sha256.ts'
import type { BuiltinModel, BuiltinModelId } from './builtin-model.ts'
import { builtinPack } from './builtin-pack.ts'

export type PrepareOptions = {
  /** The folder of the ONNX files; created if it is missing. */
  readonly folder: string
  readonly onProgress?: (progress: PrepareProgress) => void
  /** Receives the name of every missing or damaged file. */
  readonly log?: Pick<Log, 'debug' | 'warn'>
  /** The models to prepare; by default all of the built-in pack. */
  readonly models?: readonly BuiltinModel[]
  /** Returns the folder of a source package; by default the installed package. */
  readonly resolvePackageFolder?: ResolvePackageFolder
}

/** `done` of `total` models are ready; `id` is the latest of them. */
export type PrepareProgress = {
  readonly done: number
  readonly total: number
  readonly id: BuiltinModelId
  readonly outcome: 'converted' | 'verified'
}

/**
 * Creates or repairs every file of the pack in `folder`.
 *
 * Every start checks the SHA-256 of every file. A missing or damaged file is logged and converted
 * again. Several starts can prepare one folder at the same time: all write the same bytes, each to a
 * temporary file until it is complete.
 *
 * @throws Error that names the missing or altered source of a file to convert. The start must then
 *   fail, because the alternative is another network than the measured one.
 */
export async function prepareBuiltinPack({
  folder,
  onProgress,
  log,
  models = Object.values(builtinPack.models),
  resolvePackageFolder = installedPackageFolder,
}: PrepareOptions): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const file of await removeUnfinishedFiles(folder))
    log?.debug({ file }, 'removed the unfinished model file of an earlier start')
  for (const [index, model] of models.entries()) {
    const filePath = path.join(folder, model.artifact.file)
    const state = await readArtifactState(filePath, model.artifact.sha256)
    if (state !== 'valid') {
      const fields = { model: model.id, file: filePath, state }
      if (state === 'damaged') log?.warn(fields, 'a model file is damaged; it is converted again')
      else log?.debug(fields, 'a model file is missing; it is converted')
      await writeFileAtomic(filePath, await convertArtifact(model, resolvePackageFolder))
    }
    const outcome = state === 'valid' ? 'verified' : 'converted'
    onProgress?.({ done: index + 1, total: models.length, id: model.id, outcome })
  }
}

async function convertArtifact(
  model: BuiltinModel,
  resolvePackageFolder: ResolvePackageFolder,
): Promise<Uint8Array> {
  const artifact = convertModel(model, await readSource(model, resolvePackageFolder))
  const sha256 = sha256Of(artifact)
  if (sha256 !== model.artifact.sha256)
    throw new Error(
      `the conversion of ${model.id} created an unexpected ${model.artifact.file} ` +
        `(sha256 ${sha256}, expected ${model.artifact.sha256})`,
    )
  return artifact
}
