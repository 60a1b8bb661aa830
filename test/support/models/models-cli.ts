import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { mock } from 'node:test'
import { models } from '../../../src/cli/models/commands.ts'
import { packFolder } from '../../../src/models/installed-packs.ts'
import { sha256Of } from '../../../src/models/sha256.ts'
import { encodeFloat16 } from '../../../src/models/template/float16.ts'
import { manifestOf, smallLiveness, smallNetwork, writePack } from './small-network.ts'

/** `facegate models` with a temporary data folder. */
export type ModelsCli = AsyncDisposable & {
  /** A folder for test packs, beside the data folder. */
  readonly folder: string
  readonly modelsFolder: string
  /** The path of a file of an installed pack, or of its folder. */
  readonly installedPath: (pack: string, file?: string) => string
  /** Runs `facegate models …` in this process. @returns its standard output and its messages. */
  readonly run: (...args: readonly string[]) => Promise<{ out: string; messages: string }>
  /** Runs the command with `--json` and parses the output. */
  // The tests read outputs of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: (...args: readonly string[]) => Promise<any>
  /** Writes a pack with one liveness network or the given models. @returns its folder. */
  readonly writePack: (
    name: string,
    models?: Parameters<typeof manifestOf>[1],
    files?: Readonly<Record<string, Uint8Array>>,
  ) => Promise<string>
}

/** A cohort of two rows for `smallNetwork(16)`. */
const cohortBytes = encodeFloat16(new Float32Array(32).fill(0.25))

/** A similarity table of the recognizer with this `modelId`. */
export function tableOf(modelId: string): Buffer {
  const point = { fmr: 0.1, score: 0.5, source: 'counted' }
  const counts = { people: 200, pictures: 200, impostorPairs: 19_900, genuinePairs: 0 }
  const scores = { points: [point], lowestScore: 0, identicalScore: 1 }
  const set = { modelId, set: 'a test', measuredOn: '2026-01-01', method: 'none' }
  return Buffer.from(JSON.stringify({ ...set, ...counts, ...scores }))
}

/** A recognizer with a cohort and a similarity table, for `smallNetwork(16)`. */
export const calibratedRecognizer = {
  decoding: {
    kind: 'arcface',
    dimensions: 16,
    cohort: { file: 'cohort.f16', sha256: sha256Of(cohortBytes), neighbours: 1 },
    calibration: 'table.json',
  },
} as const
export const recognizerFiles = {
  'cohort.f16': cohortBytes,
  /** For the id "net" and the version "1". */
  'table.json': tableOf('net@1'),
}

export async function startModelsCli(): Promise<ModelsCli> {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-packs-'))
  process.env['DATA_DIR'] = path.join(folder, 'data')
  const modelsFolder = path.join(folder, 'data', 'models')
  return {
    folder,
    modelsFolder,
    installedPath: (pack, file = '') => path.join(packFolder(modelsFolder, pack), file),
    run: runModelsCommand,
    json: async (...args) => JSON.parse((await runModelsCommand(...args, '--json')).out),
    writePack: (
      name,
      packModels = [smallLiveness('net')],
      files = { 'net.onnx': smallNetwork(2) },
    ) => writePack(path.join(folder, name), manifestOf(name, packModels), files),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

async function runModelsCommand(
  ...args: readonly string[]
): Promise<{ out: string; messages: string }> {
  const out = mock.method(console, 'log', () => {})
  const error = mock.method(console, 'error', () => {})
  const stderr = mock.method(process.stderr, 'write', () => true)
  const textOf = ({ mock: { calls } }: typeof out): string =>
    calls.map((call) => String(call.arguments[0])).join('\n')
  try {
    await models.run(args)
    return { out: textOf(out), messages: textOf(error) }
  } finally {
    for (const each of [out, error, stderr]) each.mock.restore()
  }
}
