import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'

import { InferenceSession, Tensor } from 'onnxruntime-node'

import type { BuiltinModel } from '../models/builtin/builtin-model.ts'
import { replacePrelu } from '../models/convert/onnx/replace-prelu.ts'
import type { InstalledModel } from '../models/model-set.ts'
import { channelCount, matchInput } from './network-input.ts'
import type { DeclaredInput, NetworkInput, ImageSize } from './network-input.ts'

// From 1.29 on the runtime tells its maker of machine, process and networks, and keeps an id of the
// machine in the home folder. It looks here once, when the first network of a process is loaded.
process.env['ORT_DISABLE_TELEMETRY'] = '1'

/** Output name → its values, flat. */
export type ModelOutputs = Readonly<Record<string, Float32Array>>

/** One loaded network. A run blocks the thread until it is done. */
export type ModelSession = {
  /** The file that it was loaded from. */
  readonly filePath: string
  readonly input: NetworkInput
  /** Whether it takes pictures of other sizes than that too. */
  readonly isAnySize: boolean
  /** In the order of the graph. */
  readonly outputNames: readonly string[]
  /**
   * `input` holds one or more tensors [channels, height, width], one after another, of the size of
   * the input where no other is said.
   */
  readonly run: (input: Float32Array, size?: ImageSize) => Promise<ModelOutputs>
  readonly close: () => Promise<void>
}

/** Loads one model of the built-in pack. */
export function openBuiltinModel(
  folder: string,
  { artifact: product, input }: BuiltinModel,
): Promise<ModelSession> {
  const place = path.join(folder, product.file)
  return createModelSession(place, input, (options) => InferenceSession.create(place, options))
}

/**
 * Loads one model of an installed pack.
 *
 * @throws Error naming the file when it is no network that takes what its manifest says.
 */
export function openInstalledModel({ folder, model }: InstalledModel): Promise<ModelSession> {
  const place = path.join(folder, model.file)
  return createModelSession(place, model.input, async (options) => {
    const graph = await readGraphWithoutPrelu(place)
    return graph ? InferenceSession.create(graph, options) : InferenceSession.create(place, options)
  })
}

/**
 * One thread: there is one worker process per core, and a second thread per worker was measured
 * slower in the mixed pipeline. Nothing then waits for work, so nothing needs to spin.
 */
async function createModelSession(
  place: string,
  input: DeclaredInput,
  create: (options: InferenceSession.SessionOptions) => Promise<InferenceSession>,
): Promise<ModelSession> {
  const onnx = await create({
    executionProviders: ['cpu'],
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    // Its warnings are about how networks were exported, which nobody here can change.
    logSeverityLevel: 3,
  }).catch((cause: unknown) => {
    throw new Error(`cannot load the network ${place}: ${String(cause)}`, { cause })
  })
  const {
    name,
    isSingleImage: isOneByOne,
    isAnySize,
  } = matchInput(place, onnx.inputMetadata, input)
  const channels = channelCount(input)

  async function runAtOnce(
    values: Float32Array,
    { width, height }: ImageSize,
  ): Promise<ModelOutputs> {
    const count = values.length / (channels * height * width)
    const tensor = new Tensor('float32', values, [count, channels, height, width])
    const outputs = await onnx.run({ [name]: tensor })
    return Object.fromEntries(
      Object.entries(outputs).map(([key, value]) => [key, toFloat32(place, key, value)]),
    )
  }

  async function run(values: Float32Array, size: ImageSize = input): Promise<ModelOutputs> {
    const length = channels * size.height * size.width
    const count = values.length / length
    assert.ok(count > 0 && Number.isInteger(count), `${place}: whole tensors`)
    if (count === 1 || !isOneByOne) return runAtOnce(values, size)
    const each: ModelOutputs[] = []
    for (let at = 0; at < values.length; at += length)
      each.push(await runAtOnce(values.subarray(at, at + length), size))
    return concatOutputs(each)
  }

  const { outputNames } = onnx
  return { filePath: place, input, isAnySize, outputNames, run, close: () => onnx.release() }
}

/** The graph of an installed network without PRelu; undefined where there is nothing to gain. */
async function readGraphWithoutPrelu(place: string): Promise<Uint8Array | undefined> {
  const { size } = await stat(place)
  if (size > rewrittenBytesMax) return undefined
  const file = await readFile(place)
  const graph = replacePrelu(file)
  return graph === file ? undefined : graph
}

/**
 * Larger networks are loaded as they are: each worker would hold their file twice while it starts,
 * and PRelu is a smaller part of what they cost.
 */
const rewrittenBytesMax = 2 ** 24

/** The named output of a run. */
export function requireOutput(outputs: ModelOutputs, name: string): Float32Array {
  const values = outputs[name]
  assert.ok(values, `the model has an output ${name}`)
  return values
}

function toFloat32(place: string, name: string, { data }: Tensor): Float32Array {
  assert.ok(data instanceof Float32Array, `${place}: the output "${name}" is float32`)
  return data
}

/** The outputs of several runs, one after another. */
function concatOutputs(each: readonly ModelOutputs[]): ModelOutputs {
  const names = Object.keys(each[0] ?? {})
  return Object.fromEntries(
    names.map((name) => {
      const parts = each.map((outputs) => requireOutput(outputs, name))
      const values = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0))
      let at = 0
      for (const part of parts) {
        values.set(part, at)
        at += part.length
      }
      return [name, values]
    }),
  )
}
