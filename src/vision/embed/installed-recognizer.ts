import { readCohort } from '../../models/template/read-cohort.ts'
import type { InstalledModel } from '../../models/model-set.ts'
import { requireRecognizerDecoding } from '../../models/decoding.ts'
import { arcfaceTemplate, landmarkPoints } from '../landmarks/arcface-template.ts'
import { l2Normalize } from './embed.ts'
import { meshLandmarks } from '../landmarks/mesh.ts'
import type { Recognizer } from './open-recognizers.ts'
import type { ModelSession } from '../session.ts'
import { formatProviders } from '../model-sessions.ts'
import type { ModelSessions } from '../model-sessions.ts'
import { fitSimilarityTransform } from '../image/similarity-transform.ts'
import { cohortDensity } from './create-template.ts'
import { blackInput, toTensor, appendMirror } from '../tensor.ts'

/**
 * A recognizer of a pack: one network that turns the face, aligned by five points as ArcFace's was,
 * into a vector of length 1. Its templates carry the density of `templateOf`; a model without a
 * cohort gives 0 for it, which only an evaluation that makes the cohort may use.
 *
 * @throws Error naming the file when the network or the cohort is not what the manifest says.
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
    throw new Error(`${session.filePath}: the aligned face is square, the manifest's input is not`)
  // Before anybody relies on it: a wrong output is found now, not in somebody's picture.
  await embedBatch(session, blackInput(input), dimensions)
  const template = arcfaceTemplate(input.width)
  const modelId = formatProviders([installed.model])
  return {
    modelId,
    providers: modelId,
    async createTemplate({ mesh }, { pyramid, stopwatch: watch }) {
      const tensor = await watch.time('align', async () => {
        const toFrame = fitSimilarityTransform(template, landmarkPoints(meshLandmarks(mesh)))
        return toTensor(await pyramid.sample(toFrame, input), input)
      })
      return watch.time('embed', async () => {
        const seen = flip ? appendMirror(tensor, input.width) : tensor
        const vector = meanDirection(await embedBatch(session, seen, dimensions), dimensions)
        return { modelId, vector, density: cohort ? cohortDensity(vector, cohort) : 0 }
      })
    },
  }
}

/**
 * The network's answers to all pictures of the tensor, one after another.
 *
 * @throws Error naming the file when an answer has not `dimensions` values.
 */
async function embedBatch(
  { run, filePath: place, input, outputNames }: ModelSession,
  tensor: Float32Array,
  dimensions: number,
): Promise<Float32Array> {
  const [name = ''] = outputNames
  const values = (await run(tensor))[name] ?? new Float32Array()
  const pictures = tensor.length / (3 * input.width * input.height)
  if (outputNames.length !== 1 || values.length !== pictures * dimensions)
    throw new Error(
      `${place}: must have one output of ${dimensions} values, not ${outputNames.length} ` +
        `outputs and ${values.length / pictures} values in "${name}"`,
    )
  return values
}

/** Where several vectors point together, each counting the same: a vector of length 1. */
function meanDirection(vectors: Float32Array, dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions)
  for (let at = 0; at < vectors.length; at += dimensions)
    for (const [index, value] of l2Normalize(vectors.subarray(at, at + dimensions)).entries())
      sum[index] = (sum[index] ?? 0) + value
  return l2Normalize(sum)
}
