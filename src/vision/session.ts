import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'

import { InferenceSession, Tensor } from 'onnxruntime-node'

import type { BuiltinModel } from '../models/builtin/builtin-model.ts'
import { replacePrelu } from '../models/convert/onnx/replace-prelu.ts'
import type { InstalledModel } from '../models/model-set.ts'
import type { ImageSize } from './image/geometry.ts'
import { channelCount, matchInput, type DeclaredInput, type NetworkInput } from './network-input.ts'

// Since version 1.29 the runtime reports machine, process and networks to its maker, and stores an
// id of the machine in the home folder. It reads this variable once, when the first network of a
// process is loaded.
process.env['ORT_DISABLE_TELEMETRY'] = '1'

/** Output name → its values, flat. */
export type ModelOutputs = Readonly<Record<string, Float32Array>>

/** One loaded network. A run blocks the thread until it is done. */
export type ModelSession = {
  /** The file that the network was loaded from. */
  readonly filePath: string
  readonly input: NetworkInput
  /** Whether the network accepts images of any size, not only the size of `input`. */
  readonly isAnySize: boolean
  /** In the order of the graph. */
  readonly outputNames: readonly string[]
  /**
   * Runs the network on one or more tensors [channels, height, width], stored one after another.
   *
   * @param size of each tensor; default: the size of `input`.
   */
  readonly run: (tensors: Float32Array, size?: ImageSize) => Promise<ModelOutputs>
  readonly close: () => Promise<void>
}

/** Loads one model of the built-in pack. */
export function openBuiltinModel(
  folder: string,
  { artifact, input }: BuiltinModel,
): Promise<ModelSession> {
  const filePath = path.join(folder, artifact.file)
  return createModelSession(filePath, input, (options) =>
    InferenceSession.create(filePath, options),
  )
}

/**
 * Loads one model of an installed pack.
 *
 * @throws Error naming the file if it is not a network with the input that its manifest declares.
 */
export function openInstalledModel({ folder, model }: InstalledModel): Promise<ModelSession> {
  const filePath = path.join(folder, model.file)
  return createModelSession(filePath, model.input, async (options) => {
    const graph = await readGraphWithoutPrelu(filePath)
    return graph
      ? InferenceSession.create(graph, options)
      : InferenceSession.create(filePath, options)
  })
}

/**
 * Uses one thread: there is one worker process per core, and a second thread per worker was
 * measured slower in the mixed pipeline. With one thread no thread has to spin for work.
 */
async function createModelSession(
  filePath: string,
  input: DeclaredInput,
  create: (options: InferenceSession.SessionOptions) => Promise<InferenceSession>,
): Promise<ModelSession> {
  const onnx = await create({
    executionProviders: ['cpu'],
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    // Errors only: warnings concern the export of the networks, which cannot be changed here.
    logSeverityLevel: 3,
  }).catch((cause: unknown) => {
    throw new Error(`cannot load the network ${filePath}: ${String(cause)}`, { cause })
  })
  const { name, isSingleImage, isAnySize } = matchInput(filePath, onnx.inputMetadata, input)
  const channels = channelCount(input)

  async function runBatch(
    values: Float32Array,
    { width, height }: ImageSize,
  ): Promise<ModelOutputs> {
    const count = values.length / (channels * height * width)
    const tensor = new Tensor('float32', values, [count, channels, height, width])
    const outputs = await onnx.run({ [name]: tensor })
    return Object.fromEntries(
      Object.entries(outputs).map(([key, value]) => [key, toFloat32(filePath, key, value)]),
    )
  }

  async function run(values: Float32Array, size: ImageSize = input): Promise<ModelOutputs> {
    const length = channels * size.height * size.width
    const count = values.length / length
    assert.ok(count > 0 && Number.isInteger(count), `${filePath}: whole tensors`)
    if (count === 1 || !isSingleImage) return runBatch(values, size)
    const runs: ModelOutputs[] = []
    for (let offset = 0; offset < values.length; offset += length)
      runs.push(await runBatch(values.subarray(offset, offset + length), size))
    return concatOutputs(runs)
  }

  const { outputNames } = onnx
  return { filePath, input, isAnySize, outputNames, run, close: () => onnx.release() }
}

/** Returns an installed network without PRelu; undefined if the file can be loaded as it is. */
async function readGraphWithoutPrelu(filePath: string): Promise<Uint8Array | undefined> {
  const { size } = await stat(filePath)
  if (size > rewrittenBytesMax) return undefined
  const file = await readFile(filePath)
  const graph = replacePrelu(file)
  return graph === file ? undefined : graph
}

/**
 * Larger networks are loaded unchanged. A rewrite would keep the file in memory twice in each
 * starting worker, and PRelu is a smaller part of the run time of large networks.
 */
const rewrittenBytesMax = 2 ** 24

/** Returns the named output of a run. */
export function requireOutput(outputs: ModelOutputs, name: string): Float32Array {
  const values = outputs[name]
  assert.ok(values, `the model has an output ${name}`)
  return values
}

function toFloat32(filePath: string, name: string, { data }: Tensor): Float32Array {
  assert.ok(data instanceof Float32Array, `${filePath}: the output "${name}" is float32`)
  return data
}

/** Joins the outputs of several runs, in the order of the runs. */
function concatOutputs(runs: readonly ModelOutputs[]): ModelOutputs {
  const names = Object.keys(runs[0] ?? {})
  return Object.fromEntries(
    names.map((name) => {
      const parts = runs.map((outputs) => requireOutput(outputs, name))
      const values = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0))
      let offset = 0
      for (const part of parts) {
        values.set(part, offset)
        offset += part.length
      }
      return [name, values]
    }),
  )
}
