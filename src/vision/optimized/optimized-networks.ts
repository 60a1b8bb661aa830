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
import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { installedModelsOf, type ModelSet } from '../../models/model-set.ts'

/** A network in the ONNX format, and the SHA-256 of its file. */
export type SourceNetwork = { readonly filePath: string; readonly sha256: string }

export type OptimizeOptions = {
  /** The folder that `prepareBuiltinPack` filled. */
  readonly modelsFolder: string
  readonly modelSet: ModelSet
  /** Contains the optimized copies if `modelsFolder` cannot be written. */
  readonly fallbackFolder?: string
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
  log,
}: OptimizeOptions): Promise<string | undefined> {
  const key = await environmentKey()
  for (const parent of new Set([modelsFolder, fallbackFolder])) {
    const folder = path.join(parent, 'optimized', key)
    const networks = await missingNetworks(folder, networksOf(modelsFolder, modelSet), log)
    if (networks.length === 0) return folder
    try {
      await mkdir(folder, { recursive: true })
      await runOptimization(folder, networks)
      log?.info({ folder, networks: networks.length }, 'optimized the networks for this processor')
      return folder
    } catch (error) {
      log?.warn({ folder, err: error }, 'the networks cannot be optimized in this folder')
    }
  }
  return undefined
}

/** The path of the optimized copy of a network, and of the SHA-256 of this copy. */
export function optimizedPaths(folder: string, sha256: string) {
  const filePath = path.join(folder, `${sha256}.ort`)
  return { filePath, checksumPath: `${filePath}.sha256` }
}

/** All networks that the service can load. An installed one without a checksum has no copy. */
function networksOf(modelsFolder: string, modelSet: ModelSet): SourceNetwork[] {
  const builtin = Object.values(builtinPack.models).map(({ artifact: { file, sha256 } }) => ({
    filePath: path.join(modelsFolder, file),
    sha256,
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
    const { filePath, checksumPath } = optimizedPaths(folder, network.sha256)
    const checksum = await readFile(checksumPath, 'utf8').catch(() => '')
    const state = await readArtifactState(filePath, checksum)
    if (state === 'damaged') log?.warn({ file: filePath }, 'an optimized network is damaged')
    if (state !== 'valid') missing.push(network)
  }
  return missing
}

const entry = fileURLToPath(new URL('./optimize-process.ts', import.meta.url))

/** Runs in a separate process, because the runtime keeps the memory that it needs for this. */
async function runOptimization(folder: string, networks: readonly SourceNetwork[]): Promise<void> {
  await promisify(execFile)(process.execPath, [entry, folder, JSON.stringify(networks)])
}

/** Raised when a copy of the same network changes for another reason than those of the key. */
const formatVersion = 1

/**
 * Identifies what an optimized network depends on: the version of the runtime, and the instructions
 * of the processor, which determine the layout of the weights.
 */
async function environmentKey(): Promise<string> {
  const { version } = createRequire(import.meta.url)('onnxruntime-node/package.json') as {
    readonly version: string
  }
  const cpuInfo = await readFile('/proc/cpuinfo', 'utf8').catch(() => '')
  const instructions = /^(?:flags|Features)\s*:(?<list>.*)$/mu.exec(cpuInfo)?.groups?.['list']
  const parts = [formatVersion, version, process.arch, cpus()[0]?.model, instructions]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, keyLength)
}

const keyLength = 16
