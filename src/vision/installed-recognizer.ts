import { readCohort } from '../models/cohort.ts'
import type { InstalledModel } from '../models/pack.ts'
import { arcfaceTemplate, fivePoints } from './arcface.ts'
import { normalized } from './describe.ts'
import { namedLandmarks } from './mesh.ts'
import type { Recognizer } from './recognizer.ts'
import type { Session } from './session.ts'
import { providersOf } from './sessions.ts'
import type { Sessions } from './sessions.ts'
import { fitSimilarity } from './similarity.ts'
import { densityOf } from './template.ts'
import { blackInput, toTensor, withMirror } from './tensor.ts'

/**
 * A recognizer of a pack: one network that turns the face, aligned by five points as ArcFace's was,
 * into a vector of length 1. Its templates carry the density of `templateOf`; a model without a
 * cohort gives 0 for it, which only an evaluation that makes the cohort may use.
 *
 * @throws Error naming the file when the network or the cohort is not what the manifest says.
 */
export async function openInstalledRecognizer(
  installed: InstalledModel,
  sessions: Sessions,
): Promise<Recognizer> {
  const { decoding } = installed.model
  if (decoding.kind !== 'arcface') throw new Error(`${installed.model.id} is no recognizer`)
  const { dimensions, flip } = decoding
  const cohort = await readCohort(installed)
  const session = await sessions.installed(installed)
  const { input } = session
  if (input.width !== input.height)
    throw new Error(`${session.place}: the aligned face is square, the manifest's input is not`)
  // Before anybody relies on it: a wrong output is found now, not in somebody's picture.
  await answersTo(session, blackInput(input), dimensions)
  const template = arcfaceTemplate(input.width)
  const modelId = providersOf([installed.model])
  return {
    modelId,
    providers: modelId,
    async template({ mesh }, { pyramid, watch }) {
      const tensor = await watch.time('align', async () => {
        const toFrame = fitSimilarity(template, fivePoints(namedLandmarks(mesh)))
        return toTensor(await pyramid.sample(toFrame, input), input)
      })
      return watch.time('embed', async () => {
        const seen = flip ? withMirror(tensor, input.width) : tensor
        const vector = direction(await answersTo(session, seen, dimensions), dimensions)
        return { modelId, vector, density: cohort ? densityOf(vector, cohort) : 0 }
      })
    },
  }
}

/**
 * The network's answers to all pictures of the tensor, one after another.
 *
 * @throws Error naming the file when an answer has not `dimensions` values.
 */
async function answersTo(
  { run, place, input, outputNames }: Session,
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
function direction(vectors: Float32Array, dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions)
  for (let at = 0; at < vectors.length; at += dimensions)
    for (const [index, value] of normalized(vectors.subarray(at, at + dimensions)).entries())
      sum[index] = (sum[index] ?? 0) + value
  return normalized(sum)
}
