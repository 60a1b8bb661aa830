import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Log } from '../../lib/log.ts'
import { readArtifactState, removeUnfinishedFiles, writeFileAtomic } from '../artifact-file.ts'
import { convertModel, convertToInt8 } from '../convert/convert-model.ts'
import { installedPackageFolder, readSource } from '../convert/read-source.ts'
import type { ResolvePackageFolder, SourceBytes } from '../convert/read-source.ts'
import { sha256Of } from '../sha256.ts'
import type { BuiltinModel, BuiltinModelId, OnnxArtifact } from './builtin-model.ts'
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
    let source: SourceBytes | undefined
    for (const { artifact, convert } of conversionsOf(model)) {
      const filePath = path.join(folder, artifact.file)
      const state = await readArtifactState(filePath, artifact.sha256)
      if (state === 'valid') continue
      const fields = { model: model.id, file: filePath, state }
      if (state === 'damaged')
        log?.warn(fields, 'a model file is damaged or of another version; it is converted again')
      else log?.debug(fields, 'a model file is missing; it is converted')
      source ??= await readSource(model, resolvePackageFolder)
      const bytes = await convert(source)
      checkConversion(model, artifact, bytes)
      await writeFileAtomic(filePath, bytes)
    }
    const outcome = source ? 'converted' : 'verified'
    onProgress?.({ done: index + 1, total: models.length, id: model.id, outcome })
  }
}

/** Returns the files of the pack in `folder` that exist and are damaged or of another version. */
export async function findDamagedFiles(folder: string): Promise<readonly string[]> {
  const damaged: string[] = []
  for (const { artifact } of Object.values(builtinPack.models).flatMap(conversionsOf)) {
    const file = path.join(folder, artifact.file)
    if ((await readArtifactState(file, artifact.sha256)) === 'damaged') damaged.push(file)
  }
  return damaged
}

/** The files of a model: the network, and its int8 version if there is one. */
function conversionsOf(model: BuiltinModel) {
  const { artifact, int8 } = model
  const float32 = { artifact, convert: (source: SourceBytes) => convertModel(model, source) }
  if (!int8) return [float32]
  const convert = (source: SourceBytes) => convertToInt8(model, source, int8)
  return [float32, { artifact: int8.artifact, convert }]
}

/** @throws Error when the bytes are not those of the artifact. */
function checkConversion({ id }: BuiltinModel, artifact: OnnxArtifact, bytes: Uint8Array): void {
  const sha256 = sha256Of(bytes)
  if (sha256 !== artifact.sha256)
    throw new Error(
      `the conversion of ${id} created an unexpected ${artifact.file} ` +
        `(sha256 ${sha256}, expected ${artifact.sha256})`,
    )
}
