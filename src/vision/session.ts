import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { concatenate } from '../lib/density/vectors.ts'
import { mapValues } from '../lib/map-values.ts'
import type { BuiltinModel, ModelInput } from '../models/builtin/builtin-model.ts'
import { replacePrelu } from '../models/convert/onnx/replace-prelu.ts'
import type { InstalledModel } from '../models/model-set.ts'
import type { ImageSize } from './image/geometry.ts'
import { optimizedPaths } from './optimized/copy-report.ts'

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

/**
 * Loads one model of the built-in pack.
 *
 * @param optimizedFolder the folder of optimized copies; see `prepareOptimizedNetworks`.
 */
export function openBuiltinModel(
  folder: string,
  { artifact, input }: BuiltinModel,
  optimizedFolder?: string,
): Promise<ModelSession> {
  const filePath = path.join(folder, artifact.file)
  return openNetwork({ filePath, sha256: artifact.sha256, input, optimizedFolder })
}

/**
 * Loads one model of an installed pack.
 *
 * @param optimizedFolder the folder of optimized copies; see `prepareOptimizedNetworks`.
 * @throws Error naming the file if it is not a network with the input that its manifest declares.
 */
export function openInstalledModel(
  { folder, model: { file, sha256, input } }: InstalledModel,
  optimizedFolder?: string,
): Promise<ModelSession> {
  return openNetwork({ filePath: path.join(folder, file), sha256, input, optimizedFolder })
}

type NetworkFile = {
  readonly filePath: string
  readonly sha256: string | null
  readonly input: DeclaredInput
  readonly optimizedFolder: string | undefined
}

function openNetwork(network: NetworkFile): Promise<ModelSession> {
  const { filePath, input } = network
  return createModelSession(filePath, input, async () => {
    const copy = findOptimizedCopy(network)
    return copy === undefined
      ? createSession(await readGraph(filePath))
      : createSession(copy, mappedFileOptions)
  })
}

/** Loads an optimized copy, wherever it is. */
export function openOptimizedNetwork(filePath: string, input: DeclaredInput) {
  return createModelSession(filePath, input, () => createSession(filePath, mappedFileOptions))
}

/** Returns the path of the optimized copy of a network, if there is one. */
function findOptimizedCopy({ sha256, optimizedFolder }: NetworkFile): string | undefined {
  if (optimizedFolder === undefined || sha256 === null) return undefined
  const { filePath } = optimizedPaths(optimizedFolder, sha256)
  return existsSync(filePath) ? filePath : undefined
}

/** The types of the runtime have one signature for each kind of source. */
function createSession(
  source: string | Uint8Array,
  options: InferenceSession.SessionOptions = sessionOptions,
): Promise<InferenceSession> {
  return typeof source === 'string'
    ? InferenceSession.create(source, options)
    : InferenceSession.create(source, options)
}

/** Writes a network as the runtime has optimized it for this processor. */
export async function saveOptimizedNetwork(filePath: string, targetPath: string): Promise<void> {
  const session = await createSession(await readGraph(filePath), {
    ...sessionOptions,
    optimizedModelFilePath: targetPath,
    extra: { session: { save_model_format: 'ORT' } },
  })
  await session.release()
}

/**
 * Uses one thread: there is one worker process per core, and a second thread per worker was
 * measured slower in the mixed pipeline. With one thread no thread has to spin for work.
 */
const sessionOptions: InferenceSession.SessionOptions = {
  executionProviders: ['cpu'],
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  // An arena for each network would keep the memory of its largest run, 120 MB for the built-in ones.
  enableCpuMemArena: false,
  // Errors only: warnings concern the export of the networks, which cannot be changed here.
  logSeverityLevel: 3,
}

/** Maps an optimized network into memory and uses its weights there, without a copy. */
const mappedFileOptions: InferenceSession.SessionOptions = {
  ...sessionOptions,
  graphOptimizationLevel: 'disabled',
  extra: {
    session: {
      load_model_format: 'ORT',
      use_memory_mapped_ort_model: '1',
      use_ort_model_bytes_for_initializers: '1',
    },
  },
}

async function createModelSession(
  filePath: string,
  input: DeclaredInput,
  create: () => Promise<InferenceSession>,
): Promise<ModelSession> {
  const onnx = await create().catch((cause: unknown) => {
    throw new Error(`cannot load the network ${filePath}: ${String(cause)}`, { cause })
  })
  const { name, isSingleImage, isAnySize } = matchInput(filePath, onnx.inputMetadata, input)
  const channels = channelCount(input)

  async function runBatch(values: Float32Array, { width, height }: ImageSize) {
    const count = values.length / (channels * height * width)
    const tensor = new Tensor('float32', values, [count, channels, height, width])
    const outputs = await onnx.run({ [name]: tensor })
    return mapValues(outputs, ({ data }, key) => {
      assert.ok(data instanceof Float32Array, `${filePath}: the output "${key}" is float32`)
      return data
    })
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

/** Returns a network without PRelu, or its path if the file can be loaded as it is. */
async function readGraph(filePath: string): Promise<Uint8Array | string> {
  const { size } = await stat(filePath)
  if (size > rewrittenBytesMax) return filePath
  const file = await readFile(filePath)
  const graph = replacePrelu(file)
  return graph === file ? filePath : graph
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

/** Joins the outputs of several runs, in the order of the runs. */
function concatOutputs(runs: readonly ModelOutputs[]): ModelOutputs {
  return mapValues(runs[0] ?? {}, (_values, name) =>
    concatenate(runs.map((outputs) => requireOutput(outputs, name))),
  )
}

/** The input of a network: float32 tensors of `(pixel − mean[channel]) × scale`. */
export type NetworkInput = Omit<ModelInput, 'name'>

/** The input as a manifest declares it. With `name: null`, the graph must have only one input. */
type DeclaredInput = NetworkInput & { readonly name: string | null }

type GraphInput = InferenceSession.ValueMetadata

/**
 * Returns the input of the graph that takes the images.
 *
 * @throws Error naming the file if there is no such input, or if its shape is not the declared one.
 */
function matchInput(filePath: string, graphInputs: readonly GraphInput[], declared: DeclaredInput) {
  const names = graphInputs.map(({ name }) => `"${name}"`).join(', ')
  const input = graphInputs.find(({ name }) => declared.name === null || name === declared.name)
  if (!input) throw new Error(`${filePath}: no input "${declared.name}" among ${names}`)
  if (declared.name === null && graphInputs.length > 1)
    throw new Error(`${filePath}: the manifest must name one of the inputs ${names}`)
  if (!input.isTensor || input.type !== 'float32')
    throw new Error(`${filePath}: the input "${input.name}" must be a tensor of float32`)
  const expected = ['N', channelCount(declared), declared.height, declared.width]
  const [batch, , ...sides] = input.shape
  const isMatch =
    input.shape.length === expected.length &&
    (!isFixedSize(batch) || batch === 1) &&
    input.shape.every(
      (size, index) => index === 0 || !isFixedSize(size) || size === expected[index],
    )
  if (!isMatch) {
    const shape = input.shape.map((size) => (isFixedSize(size) ? size : 'any')).join('×')
    throw new Error(
      `${filePath}: the input "${input.name}" has the shape ${shape}, the manifest declares ${expected.join('×')}`,
    )
  }
  const isAnySize = !sides.some(isFixedSize)
  return {
    name: input.name,
    /** Whether the network accepts only one image per run. */
    isSingleImage: isFixedSize(batch),
    /** Whether the network accepts images of any size. */
    isAnySize,
  }
}

/** In the metadata, a dimension of variable size has a name, or no value, instead of a number. */
function isFixedSize(size: number | string | undefined): size is number {
  return typeof size === 'number' && size > 0
}

function channelCount({ colourOrder }: NetworkInput): number {
  return colourOrder === 'grey' ? 1 : 3
}
