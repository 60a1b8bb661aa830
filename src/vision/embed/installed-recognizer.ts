import { readCohort } from '../../models/template/read-cohort.ts'
import { requireRecognizerDecoding } from '../../models/decoding.ts'
import type { InstalledModel } from '../../models/model-set.ts'
import { fitSimilarityTransform } from '../image/geometry.ts'
import { arcfaceTemplate, landmarkPoints } from './aligned-crops.ts'
import { meshLandmarks } from '../landmarks/mesh.ts'
import { formatProviders, type ModelSessions } from '../model-sessions.ts'
import type { ModelSession } from '../session.ts'
import { blackInput, toTensor, appendMirror } from '../tensor.ts'
import { openDensityKernel } from '../../lib/density/density-kernel.ts'
import { l2Normalize } from './create-template.ts'
import type { Recognizer } from './recognizer.ts'

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
