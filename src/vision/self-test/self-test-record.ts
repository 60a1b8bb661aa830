import { readFile, readdir, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { writeFileAtomic } from '../../models/artifact-file.ts'
import type { BuiltinModel } from '../../models/builtin/builtin-model.ts'
import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { installedModelsOf } from '../../models/model-set.ts'
import { sha256Of } from '../../models/sha256.ts'
import { readCopyReport } from '../optimized/copy-report.ts'
import type { SelfTestOptions } from './self-test.ts'

/** A passed self-test, stored beside the networks that it tested. */
export type SelfTestRecord = {
  /** Whether the self-test passed at an earlier start, and nothing that it depends on has changed. */
  readonly hasPassed: () => Promise<boolean>
  /** Stores that the self-test has passed. Without write access, the next start repeats it. */
  readonly savePassed: () => Promise<void>
}

/** Raised when the self-test changes for another reason than the values of its digest. */
const formatVersion = 1

/**
 * Opens the record of these models, this processor and this version of the runtime.
 *
 * @returns undefined if the self-test must run at every start: a network has no optimized copy or no
 *   checksum, or the files of the runtime are not found.
 */
export async function openSelfTestRecord(
  options: SelfTestOptions,
): Promise<SelfTestRecord | undefined> {
  const { optimizedFolder } = options
  if (optimizedFolder === undefined) return undefined
  const digest = await digestOf(options, optimizedFolder)
  if (digest === undefined) return undefined
  const file = path.join(optimizedFolder, 'self-test.sha256')
  return {
    hasPassed: async () => (await readFile(file, 'utf8').catch(() => '')) === digest,
    savePassed: () => writeFileAtomic(file, Buffer.from(digest)).catch(() => undefined),
  }
}

/**
 * Identifies what the results of the networks depend on. Every start has compared the files of the
 * networks with their checksums before. The name of the folder identifies the processor and the
 * version of the runtime, see `prepareOptimizedNetworks`.
 */
async function digestOf(
  { modelSet }: SelfTestOptions,
  optimizedFolder: string,
): Promise<string | undefined> {
  const checksums = [
    ...Object.values<BuiltinModel>(builtinPack.models).map(({ artifact }) => artifact.sha256),
    ...installedModelsOf(modelSet).map(({ model }) => model.sha256),
  ]
  const copies = await Promise.all(
    checksums.map(async (sha256) =>
      sha256 === null ? undefined : readCopyReport(optimizedFolder, sha256),
    ),
  )
  const runtime = await describeRuntime().catch(() => [])
  if (copies.includes(undefined) || runtime.length === 0) return undefined
  const environment = [formatVersion, process.version, path.basename(optimizedFolder), runtime]
  return sha256Of(Buffer.from(JSON.stringify([environment, builtinPack, modelSet, copies])))
}

/** The native files of the runtime: a reinstallation changes their time even at an equal version. */
async function describeRuntime(): Promise<unknown[]> {
  const manifest = createRequire(import.meta.url).resolve('onnxruntime-node/package.json')
  const bin = path.join(path.dirname(manifest), 'bin')
  const paths = (await readdir(bin, { recursive: true })).toSorted()
  const platform = path.join(process.platform, process.arch)
  const native = paths.filter((file) => path.dirname(file).endsWith(platform))
  return Promise.all(
    native.map(async (file) => {
      const { size, mtimeMs, ctimeMs } = await stat(path.join(bin, file))
      return { file, size, mtimeMs, ctimeMs }
    }),
  )
}
