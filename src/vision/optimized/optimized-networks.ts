import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { cpus } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Log } from '../../lib/log.ts'
import { readArtifactState } from '../../models/artifact-file.ts'
import type { BuiltinModel, BuiltinModelId } from '../../models/builtin/builtin-model.ts'
import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { installedModelsOf, type ModelSet } from '../../models/model-set.ts'
import { optimizedPaths, readCopyReport } from './copy-report.ts'

/** A network in the ONNX format, and the SHA-256 of its file. */
export type SourceNetwork = {
  readonly filePath: string
  readonly sha256: string
  /** The version that computes with 8-bit integers, if it can be used. */
  readonly int8?: {
    readonly id: BuiltinModelId
    readonly filePath: string
    readonly mode: Exclude<Int8Mode, 'off'>
  }
}

/**
 * Whether copies are made from the int8 version of a network, if there is one. `auto`: if it was
 * measured to be faster on this machine.
 */
export type Int8Mode = 'auto' | 'on' | 'off'

export type OptimizeOptions = {
  /** The folder that `prepareBuiltinPack` filled. */
  readonly modelsFolder: string
  readonly modelSet: ModelSet
  /** Contains the optimized copies if `modelsFolder` cannot be written. */
  readonly fallbackFolder?: string
  /** Default: `off`. */
  readonly int8?: Int8Mode
  readonly log?: Pick<Log, 'info' | 'warn'>
}

/**
 * Writes a copy of each network that the runtime has optimized for this processor, unless it exists.
 *
 * A process that loads a copy maps its file into memory: all processes share the weights, and none
 * optimizes the network again. Without copies each process has its own weights, 70 MB for the
 * built-in networks.
 *
 * Every start checks the SHA-256 of every copy, and writes a damaged one again.
 *
 * @returns the folder of the copies; undefined if no folder can be written.
 */
export async function prepareOptimizedNetworks({
  modelsFolder,
  modelSet,
  fallbackFolder = modelsFolder,
  int8 = 'off',
  log,
}: OptimizeOptions): Promise<string | undefined> {
  const key = await environmentKey(int8)
  const failures: string[] = []
  for (const parent of new Set([modelsFolder, fallbackFolder])) {
    const folder = path.join(parent, 'optimized', key)
    const networks = await missingNetworks(folder, networksOf(modelsFolder, modelSet, int8), log)
    if (networks.length === 0) return folder
    try {
      await mkdir(folder, { recursive: true })
      // A separate process, because the runtime keeps the memory that it needs for this.
      await promisify(execFile)(process.execPath, [entry, folder, JSON.stringify(networks)])
      log?.info({ folder, networks: networks.length }, 'optimized the networks for this processor')
      for (const network of networks) await logInt8Measurement(folder, network, log)
      return folder
    } catch (error) {
      // A read-only folder of models, as in an image, is no fault: the other folder is used.
      failures.push(error instanceof Error ? error.message : String(error))
    }
  }
  log?.warn({ reasons: failures }, 'the networks cannot be optimized in any folder')
  return undefined
}

async function logInt8Measurement(
  folder: string,
  { sha256, int8 }: SourceNetwork,
  log: OptimizeOptions['log'],
): Promise<void> {
  const report = int8 && (await readCopyReport(folder, sha256))
  if (!report) return
  const { precision, measurement } = report
  log?.info({ model: int8.id, precision, ...measurement }, 'measured the int8 version of a network')
}

/** All networks that the service can load. An installed one without a checksum has no copy. */
function networksOf(modelsFolder: string, modelSet: ModelSet, mode: Int8Mode): SourceNetwork[] {
  const builtin = Object.values<BuiltinModel>(builtinPack.models).map(({ id, artifact, int8 }) => ({
    filePath: path.join(modelsFolder, artifact.file),
    sha256: artifact.sha256,
    ...(int8 &&
      mode !== 'off' && {
        int8: { id, filePath: path.join(modelsFolder, int8.artifact.file), mode },
      }),
  }))
  const installed = installedModelsOf(modelSet).flatMap(({ folder, model: { file, sha256 } }) =>
    sha256 === null ? [] : [{ filePath: path.join(folder, file), sha256 }],
  )
  return [...builtin, ...installed]
}

async function missingNetworks(
  folder: string,
  networks: readonly SourceNetwork[],
  log: OptimizeOptions['log'],
): Promise<SourceNetwork[]> {
  const missing: SourceNetwork[] = []
  for (const network of networks) {
    const { filePath } = optimizedPaths(folder, network.sha256)
    const report = await readCopyReport(folder, network.sha256)
    const state = await readArtifactState(filePath, report?.sha256 ?? '')
    if (state === 'damaged') log?.warn({ file: filePath }, 'an optimized network is damaged')
    if (state !== 'valid') missing.push(network)
  }
  return missing
}

const entry = fileURLToPath(new URL('./optimize-process.ts', import.meta.url))

/** Raised when a copy of the same network changes for another reason than those of the key. */
const formatVersion = 2

/**
 * Identifies what an optimized network depends on: the version of the runtime, the instructions of
 * the processor, which determine the layout of the weights, and the int8 versions that can be used.
 */
async function environmentKey(mode: Int8Mode): Promise<string> {
  const { version } = createRequire(import.meta.url)('onnxruntime-node/package.json') as {
    readonly version: string
  }
  const cpuInfo = await readFile('/proc/cpuinfo', 'utf8').catch(() => '')
  const instructions = /^(?:flags|Features)\s*:(?<list>.*)$/mu.exec(cpuInfo)?.groups?.['list']
  const int8 = Object.values<BuiltinModel>(builtinPack.models).map(
    (model) => model.int8?.artifact.sha256,
  )
  const parts = [formatVersion, version, process.arch, cpus()[0]?.model, instructions]
  if (mode !== 'off') parts.push(mode, ...int8)
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, keyLength)
}

const keyLength = 16
