import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { mock } from 'node:test'
import { models } from '../../../src/cli/models/models.ts'
import { packFolder } from '../../../src/models/installed-packs.ts'
import { sha256Of } from '../../../src/models/sha256.ts'
import { manifestOf, smallLiveness, smallNetwork, writePack } from './small-network.ts'

/** `facegate models` on a data folder of its own. */
export type ModelsCli = AsyncDisposable & {
  /** Where packs may be written, beside the data folder. */
  readonly folder: string
  readonly modelsFolder: string
  /** A file of an installed pack, or its folder. */
  readonly installedPath: (pack: string, file?: string) => string
  /** Runs `facegate models …` in this process. @returns what it prints, and what it says beside. */
  readonly run: (...args: readonly string[]) => Promise<{ out: string; beside: string }>
  /** The same with `--json`. */
  // The tests look into answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: (...args: readonly string[]) => Promise<any>
  /** A folder with a pack of one liveness network, or of the given models. */
  readonly writePack: (
    name: string,
    models?: Parameters<typeof manifestOf>[1],
    files?: Readonly<Record<string, Uint8Array>>,
  ) => Promise<string>
}

/** An embedder with all that it needs to serve, beside `smallNetwork(16)`. */
export const calibratedEmbedder = {
  decoding: {
    kind: 'arcface',
    dimensions: 16,
    cohort: { file: 'cohort.f16', sha256: sha256Of(Buffer.from('strangers')), neighbours: 1 },
    calibration: 'table.json',
  },
} as const
export const embedderFiles = {
  'cohort.f16': Buffer.from('strangers'),
  'table.json': Buffer.from('{}'),
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
    writePack: (name, given = [smallLiveness('net')], files = { 'net.onnx': smallNetwork(2) }) =>
      writePack(path.join(folder, name), manifestOf(name, given), files),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

async function runModelsCommand(
  ...args: readonly string[]
): Promise<{ out: string; beside: string }> {
  const out = mock.method(console, 'log', () => {})
  const beside = mock.method(console, 'error', () => {})
  const stderr = mock.method(process.stderr, 'write', () => true)
  const textOf = ({ mock: { calls } }: typeof out): string =>
    calls.map((call) => String(call.arguments[0])).join('\n')
  try {
    await models.run(args)
    return { out: textOf(out), beside: textOf(beside) }
  } finally {
    for (const each of [out, beside, stderr]) each.mock.restore()
  }
}
