import assert from 'node:assert/strict'
import { openDensityKernel } from '../../lib/density/density-kernel.ts'
import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { requireRecognizerDecoding } from '../../models/decoding.ts'
import type { InstalledModel } from '../../models/model-set.ts'
import { readCohort } from '../../models/template/read-cohort.ts'
import type { TemplateModel } from '../../models/template/template-model.ts'
import { fitSimilarityTransform } from '../image/geometry.ts'
import type { PlanarCrop } from '../image/pyramid.ts'
import { meshLandmarks } from '../landmarks/mesh.ts'
import { type ModelSessions, formatProviders } from '../model-sessions.ts'
import { type ModelSession, requireOutput } from '../session.ts'
import { appendMirror, blackInput, mirrorTensor, toTensor } from '../tensor.ts'
import { arcfaceTemplate, landmarkPoints } from './aligned-crops.ts'
import type { Recognizer } from './recognizer.ts'
import type { Template } from './template.ts'

/** Creates a template from the embeddings of one face. */
export type CreateTemplate = (embeddings: NetworkEmbeddings) => Template

/**
 * Returns a function that creates a template from the embeddings of both networks: one vector, reduced
 * to the axes of the model, and its density.
 */
export function openTemplateCreator(model: TemplateModel): CreateTemplate {
  const { modelId, centre, mean, axes, dlibWeight } = model
  const measureDensity = openDensityKernel(model, axes.length / mean.length)
  return (embeddings) => {
    const vector = projectToAxes(fuseEmbeddings(embeddings, centre, dlibWeight), model)
    return { modelId, vector, density: measureDensity(vector) }
  }
}

/**
 * Combines both embeddings into one vector: `[dlibWeight · dlib ; l2(faceres − centre)]`, 128 + 1,024
 * values. The networks make errors on different people, so the combination is better than either.
 *
 * @param centre the mean of faceres over many people. All its vectors point in roughly the same
 *   direction; without that common part, the angles between them are more distinctive.
 */
export function fuseEmbeddings(
  { dlib, faceres }: NetworkEmbeddings,
  centre: Float32Array,
  dlibWeight: number,
): Float32Array {
  assert.equal(faceres.length, centre.length)
  const fused = new Float32Array(dlib.length + faceres.length)
  fused.set(dlib.map((value) => value * dlibWeight))
  fused.set(l2Normalize(faceres.map((value, index) => value - (centre[index] ?? 0))), dlib.length)
  return fused
}

/**
 * Returns the coordinates of `fused − mean` along the axes (principal components, concatenated).
 *
 * Each coordinate is summed in float64 in the order of the values, so that a vector that is computed again
 * is equal to the last bit. Four of them are summed side by side: one sum alone would wait for each of
 * its additions.
 */
export function projectToAxes(
  fused: Float32Array,
  { mean, axes }: Pick<TemplateModel, 'mean' | 'axes'>,
): Float32Array {
  assert.equal(fused.length, mean.length)
  const centred = Float64Array.from(fused, (value, index) => value - (mean[index] ?? 0))
  const vector = new Float32Array(axes.length / fused.length)
  let axis = 0
  for (; axis + 4 <= vector.length; axis += 4) projectToFourAxes(vector, axis, centred, axes)
  for (; axis < vector.length; axis++) vector[axis] = projectToAxis(centred, axes, axis)
  return vector
}

function projectToFourAxes(
  vector: Float32Array,
  axis: number,
  centred: Float64Array,
  axes: Float32Array,
): void {
  const size = centred.length
  const first = axis * size
  const [second, third, fourth] = [first + size, first + 2 * size, first + 3 * size]
  let [a, b, c, d] = [0, 0, 0, 0]
  for (let index = 0; index < size; index++) {
    const value = centred[index] ?? 0
    a += value * (axes[first + index] ?? 0)
    b += value * (axes[second + index] ?? 0)
    c += value * (axes[third + index] ?? 0)
    d += value * (axes[fourth + index] ?? 0)
  }
  vector.set([a, b, c, d], axis)
}

function projectToAxis(centred: Float64Array, axes: Float32Array, axis: number): number {
  const first = axis * centred.length
  return centred.reduce((sum, value, index) => sum + value * (axes[first + index] ?? 0), 0)
}

/** The embeddings of one face, each the mean over the face and its mirror image, if it is used. */
export type NetworkEmbeddings = {
  /** 128 values, not normalized. */
  readonly dlib: Float32Array
  /** 1,024 values, of length 1. */
  readonly faceres: Float32Array
}

/** Scales `vector` to length 1. */
export function l2Normalize(vector: Float32Array): Float32Array {
  let squares = 0
  for (const value of vector) squares += value * value
  assert.ok(squares > 0, 'a vector of zeros cannot be normalized')
  const length = Math.sqrt(squares)
  return vector.map((value) => value / length)
}

const { models } = builtinPack

/**
 * Returns the embedding of dlib. The mirror image is run in the same batch, which takes a fifth less
 * time than two runs.
 *
 * @param withoutMirror half of the work, for comparisons within one recording. In a template, the
 *   mirror images add 0.4 % of TAR at FMR 1e-3, 0.9 % at 1e-4 and 1.4 % at 1e-5.
 */
export async function embedWithDlib(
  session: ModelSession,
  crop: PlanarCrop,
  withoutMirror: boolean,
): Promise<Float32Array> {
  const tensor = toTensor(crop, session.input)
  const batch = withoutMirror ? tensor : appendMirror(tensor, crop.width)
  const values = requireOutput(await session.run(batch), 'embedding')
  const { dimensions } = models.face_recognition.constants
  assert.equal(values.length, withoutMirror ? dimensions : 2 * dimensions)
  if (withoutMirror) return values
  return values
    .subarray(0, dimensions)
    .map((value, index) => (value + (values[dimensions + index] ?? 0)) / 2)
}

/**
 * Returns the embedding of faceres. The images are run one after another, because a batch is slower for
 * this network. The tensor has the format of TensorFlow's Caffe models (BGR minus the mean of ImageNet,
 * as in the manifest). `human` passes unchanged RGB to this network, which costs 2 % of accuracy and
 * 15 % of TAR at FMR 1e-3.
 *
 * @param withoutMirror as in `embedWithDlib`.
 */
export async function embedWithFaceres(
  session: ModelSession,
  crop: PlanarCrop,
  withoutMirror: boolean,
): Promise<Float32Array> {
  const tensor = toTensor(crop, session.input)
  const direct = l2Normalize(requireOutput(await session.run(tensor), 'embedding'))
  assert.equal(direct.length, models.faceres.constants.dimensions)
  if (withoutMirror) return direct
  const mirror = l2Normalize(
    requireOutput(await session.run(mirrorTensor(tensor, crop.width)), 'embedding'),
  )
  return l2Normalize(direct.map((value, index) => value + (mirror[index] ?? 0)))
}

/**
 * Opens the recognizer of an installed pack: one network that converts a face, aligned by five
 * points as for ArcFace, into a vector of length 1. Its templates have a density like those of
 * `createTemplate`. Without a cohort the density is 0; only an evaluation that creates the cohort
 * uses such a model.
 *
 * @throws Error naming the file if the network or the cohort does not match the manifest.
 */
export async function openInstalledRecognizer(
  installed: InstalledModel,
  sessions: ModelSessions,
): Promise<Recognizer> {
  const { dimensions, flip } = requireRecognizerDecoding(installed.model)
  const cohort = await readCohort(installed)
  const session = await sessions.openInstalled(installed)
  const { input } = session
  if (input.width !== input.height)
    throw new Error(`${session.filePath}: the input in the manifest must be square`)
  // Checks the output once at the start, so that a mismatch is not found in a caller's request.
  await embedBatch(session, blackInput(input), dimensions)
  const template = arcfaceTemplate(input.width)
  const measureDensity = cohort ? openDensityKernel(cohort, dimensions) : () => 0
  const modelId = formatProviders([installed.model])
  return {
    modelId,
    async createTemplate({ mesh }, { pyramid, stopwatch }, { withoutMirror = false } = {}) {
      const tensor = await stopwatch.time('align', async () => {
        const toFrame = fitSimilarityTransform(template, landmarkPoints(meshLandmarks(mesh)))
        return toTensor(await pyramid.sample(toFrame, input), input)
      })
      return stopwatch.time('embed', async () => {
        const batch = flip && !withoutMirror ? appendMirror(tensor, input.width) : tensor
        const vector = meanDirection(await embedBatch(session, batch, dimensions), dimensions)
        return { modelId, vector, density: measureDensity(vector) }
      })
    },
  }
}

/**
 * Returns the vectors of all images in the tensor, one after another.
 *
 * @throws Error naming the file if the network does not return `dimensions` values per image.
 */
async function embedBatch(
  { run, filePath, input, outputNames }: ModelSession,
  tensor: Float32Array,
  dimensions: number,
): Promise<Float32Array> {
  const [name = ''] = outputNames
  const values = (await run(tensor))[name] ?? new Float32Array()
  const images = tensor.length / (3 * input.width * input.height)
  if (outputNames.length !== 1 || values.length !== images * dimensions)
    throw new Error(
      `${filePath}: must have one output of ${dimensions} values, not ${outputNames.length} ` +
        `outputs and ${values.length / images} values in "${name}"`,
    )
  return values
}

/** Returns the mean direction of several vectors with equal weight: a vector of length 1. */
function meanDirection(vectors: Float32Array, dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions)
  for (let offset = 0; offset < vectors.length; offset += dimensions)
    for (const [index, value] of l2Normalize(
      vectors.subarray(offset, offset + dimensions),
    ).entries())
      sum[index] = (sum[index] ?? 0) + value
  return l2Normalize(sum)
}
