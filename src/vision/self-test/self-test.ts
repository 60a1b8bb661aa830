import { execFile } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { unreachable } from '../../lib/validation/unreachable.ts'
import type { BuiltinModel, Golden } from '../../models/builtin/builtin-model.ts'
import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { isRecognizerDecoding } from '../../models/decoding.ts'
import { goldenInput, goldenMismatch } from '../../models/builtin/golden.ts'
import { type InstalledModel, installedModelsOf } from '../../models/model-set.ts'
import type { PackModel } from '../../models/pack-manifest.ts'
import { readCohort } from '../../models/template/read-cohort.ts'
import { readCopyReport } from '../optimized/copy-report.ts'
import type { PipelineOptions } from '../pipeline.ts'
import { type ModelOutputs, openBuiltinModel, openInstalledModel } from '../session.ts'

/** Optimized copies are tested where they exist. */
export type SelfTestOptions = Pick<PipelineOptions, 'modelsFolder' | 'optimizedFolder' | 'modelSet'>

/**
 * Runs every model of the built-in pack and every installed model of `modelSet` once on a fixed
 * input. Models run one after another, so that only one of them is in memory.
 *
 * @returns one sentence per wrong result; empty if all results are correct.
 */
export async function selfTestModels({ modelsFolder, optimizedFolder, modelSet }: SelfTestOptions) {
  const mismatches: string[] = []
  for (const model of Object.values<BuiltinModel>(builtinPack.models)) {
    const mismatch = await selfTestModel(model, modelsFolder, optimizedFolder)
    if (mismatch) mismatches.push(mismatch)
  }
  for (const installed of installedModelsOf(modelSet)) {
    const fault = await smokeTest(installed, optimizedFolder)
    if (fault) mismatches.push(`${path.join(installed.folder, installed.model.file)}: ${fault}`)
  }
  return mismatches
}

async function selfTestModel(
  model: BuiltinModel,
  folder: string,
  optimizedFolder: string | undefined,
): Promise<string | undefined> {
  const session = await openBuiltinModel(folder, model, optimizedFolder)
  try {
    const golden = await goldenOf(model, optimizedFolder)
    return goldenMismatch({ ...model, golden }, await session.run(goldenInput(model)))
  } finally {
    await session.close()
  }
}

/** The expected outputs of the version of a network that `openBuiltinModel` loads. */
async function goldenOf(
  { artifact, golden, int8 }: BuiltinModel,
  optimizedFolder: string | undefined,
): Promise<Golden> {
  if (!int8 || optimizedFolder === undefined) return golden
  const report = await readCopyReport(optimizedFolder, artifact.sha256)
  return report?.precision === 'int8' ? int8.golden : golden
}

/**
 * Reads the cohort of an installed network, loads the network and runs it once on a fixed input. Tests
 * whether the outputs can be decoded as the manifest declares. It does not test accuracy, which needs
 * labelled images.
 *
 * @param msMax the time for one face from which on the network is too slow.
 * @returns one sentence that describes the fault; undefined if there is none.
 */
export async function smokeTest(model: InstalledModel, optimizedFolder?: string, msMax = Infinity) {
  try {
    if (isRecognizerDecoding(model.model.decoding)) await readCohort(model)
    const session = await openInstalledModel(model, optimizedFolder)
    try {
      const startMs = performance.now()
      const outputs = await session.run(goldenInput(model.model))
      const ms = Math.round(runsPerFace(model.model) * (performance.now() - startMs))
      return ms > msMax
        ? `it takes ${ms} ms for one face, and VISION_TIMEOUT_MS is ${msMax}: use a smaller network`
        : outputMismatch(model.model, outputs, session.outputNames)
    } finally {
      await session.close()
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The vector of a face can be the mean of two: that of the face and that of its mirror image. */
function runsPerFace({ decoding }: PackModel): number {
  return isRecognizerDecoding(decoding) && decoding.flip ? 2 : 1
}

function outputMismatch(model: PackModel, outputs: ModelOutputs, names: readonly string[]) {
  for (const { name, length } of expectedOutputs(model, names)) {
    const values = outputs[name]
    if (!values) return `it has no output "${name}"; its outputs are ${names.join(', ')}`
    if (values.length !== length)
      return `its output "${name}" has ${values.length} values instead of ${length}`
    if (!values.every(Number.isFinite))
      return `its output "${name}" contains values that are not finite`
    if (model.role === 'recognizer' && values.filter((value) => value !== 0).length < 2)
      return `its output "${name}" has at most one value other than 0: it distinguishes no faces`
  }
  return undefined
}

/** Returns the outputs that the decoding of a model reads, with their number of values per image. */
function expectedOutputs({ input, decoding }: PackModel, names: readonly string[]) {
  const nth = (index: number): string => names[index] ?? `number ${index + 1}`
  const cells = (stride: number): number =>
    Math.ceil(input.width / stride) * Math.ceil(input.height / stride)
  switch (decoding.kind) {
    case 'arcface':
      return [{ name: nth(0), length: decoding.dimensions }]
    case 'antispoof':
      return [{ name: nth(0), length: decoding.classes }]
    case 'yunet':
      return [8, 16, 32].flatMap((stride) => [
        { name: `cls_${stride}`, length: cells(stride) },
        { name: `obj_${stride}`, length: cells(stride) },
        { name: `bbox_${stride}`, length: cells(stride) * 4 },
        { name: `kps_${stride}`, length: cells(stride) * 10 },
      ])
    case 'scrfd':
      return [1, 4, 10].flatMap((values, part) =>
        [8, 16, 32].map((stride, level) => ({
          name: nth(part * 3 + level),
          length: cells(stride) * decoding.anchorsPerCell * values,
        })),
      )
    case 'retinaface': {
      const { outputs, strides, priorSides } = decoding
      const priors = strides.reduce(
        (sum, stride, level) => sum + cells(stride) * (priorSides[level]?.length ?? 0),
        0,
      )
      return [
        { name: outputs.boxes, length: priors * 4 },
        { name: outputs.scores, length: priors * 2 },
        { name: outputs.points, length: priors * 10 },
      ]
    }
    default:
      return unreachable(decoding)
  }
}

/**
 * Runs `selfTestModels` in a separate process. A file can be intact and still compute wrong results,
 * on another processor or with another version of the runtime.
 *
 * @throws Error naming each model with a wrong result; the server must not start then.
 */
export async function runSelfTest(options: SelfTestOptions): Promise<void> {
  const { modelsFolder, optimizedFolder, modelSet } = options
  const entry = new URL('./self-test-process.ts', import.meta.url)
  const mismatches = await runProcess<string[]>(entry, { modelsFolder, optimizedFolder, modelSet })
  if (mismatches.length > 0)
    throw new Error(`models return wrong results: ${mismatches.join('; ')}`)
}

/**
 * Runs `smokeTest` in a separate process, because a damaged file can crash the runtime.
 *
 * @param msMax as for `smokeTest`.
 * @returns one sentence that describes the fault; undefined if there is none.
 */
export async function runSmokeTest(model: InstalledModel, msMax?: number) {
  try {
    const entry = new URL('./smoke-test-process.ts', import.meta.url)
    return (await runProcess<{ fault?: string }>(entry, { model, msMax }, smokeTestMsMax)).fault
  } catch {
    return 'the test process crashed or timed out'
  }
}

/** A large network takes seconds. A network that takes a minute per image is not usable. */
const smokeTestMsMax = 60_000

/** Runs an entry module with one argument and returns the JSON that it prints. */
async function runProcess<Result>(entry: URL, argument: unknown, timeout?: number) {
  const args = [fileURLToPath(entry), JSON.stringify(argument)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout })
  return JSON.parse(stdout) as Result
}
