import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import type { DetectedFace, ImageContext } from '../image-context.ts'
import { cropTransform, fitSimilarityTransform } from '../image/geometry.ts'
import { arcfaceTemplate, landmarkPoints } from '../embed/aligned-crops.ts'
import { meshLandmarks } from '../landmarks/mesh.ts'
import { formatProviders, type ModelSessions } from '../model-sessions.ts'
import { requireOutput, type ModelOutputs } from '../session.ts'
import { toTensor } from '../tensor.ts'
import { attributeCrop } from './attribute-crop.ts'
import { predictExpression } from './expression.ts'
import type { AttributeName, FaceAttributes } from './face-attributes.ts'

/** Predicts attributes of faces. */
export type AttributeReader = {
  /** Returns "id@version" of the models for these attributes, joined by "+". */
  readonly providersFor: (names: readonly AttributeName[]) => string
  /** Runs only the networks that `names` need. */
  readonly read: (
    names: readonly AttributeName[],
    face: DetectedFace,
    context: ImageContext,
  ) => Promise<FaceAttributes>
}

/** Uses the built-in networks. Each is loaded at its first use. */
export function createAttributeReader(sessions: ModelSessions): AttributeReader {
  return {
    providersFor: (names) => formatProviders(modelIdsFor(names).map((id) => models[id])),
    read: (names, face, context) =>
      context.stopwatch.time('attributes', async () => {
        const faceres =
          names.includes('age') || names.includes('gender')
            ? await runFaceres(sessions, face, context)
            : undefined
        return {
          ...(faceres &&
            names.includes('age') && { age: await predictAge(sessions, face, context, faceres) }),
          ...(faceres &&
            names.includes('gender') && {
              maleProbability: maleProbability(faceres),
            }),
          ...(names.includes('expression') && {
            expression: await predictExpression(sessions, face, context),
          }),
        }
      }),
  }
}

const { models } = builtinPack

function modelIdsFor(names: readonly AttributeName[]): (keyof typeof models)[] {
  const ids = [
    (names.includes('age') || names.includes('gender')) && ('faceres' as const),
    names.includes('age') && ('age_gender' as const),
    ...(names.includes('expression') ? (['face_expression', 'emotion'] as const) : []),
  ]
  return ids.filter((id) => id !== false)
}

/** Aligns the face as for recognition, but larger: 0.9 instead of 0.8 of ArcFace's crop. */
async function runFaceres(
  sessions: ModelSessions,
  { mesh }: DetectedFace,
  { pyramid }: ImageContext,
): Promise<ModelOutputs> {
  const { input, constants } = models.faceres
  const template = arcfaceTemplate(input.width, constants.attributesTemplateScale)
  const toFrame = fitSimilarityTransform(template, landmarkPoints(meshLandmarks(mesh)))
  const session = await sessions.openBuiltin('faceres')
  return session.run(toTensor(await pyramid.sample(toFrame, input), input))
}

/**
 * Returns the age in years: the mean of two networks. faceres returns a distribution over years, of
 * which the expectation is used; age_gender returns a number for the attribute crop.
 */
async function predictAge(
  sessions: ModelSessions,
  { mesh }: DetectedFace,
  { pyramid }: ImageContext,
  faceres: ModelOutputs,
): Promise<number> {
  const { input, constants } = models.age_gender
  const square = attributeCrop(mesh, constants.cropFactor)
  const crop = await pyramid.sample(cropTransform(square, input), input)
  const session = await sessions.openBuiltin('age_gender')
  const direct = requireOutput(await session.run(toTensor(crop, input)), 'age')[0] ?? 0
  const expected = requireOutput(faceres, 'age').reduce(
    (sum, share, years) => sum + share * years,
    0,
  )
  return (direct + expected) / 2
}

/** Shifts the log-odds of the network so that 0.5 is the threshold with the fewest errors. */
function maleProbability(faceres: ModelOutputs): number {
  const share = requireOutput(faceres, 'gender')[0] ?? 0.5
  const odds = share / Math.max(1e-9, 1 - share)
  const { maleBorder } = models.faceres.constants
  const borderOdds = maleBorder / (1 - maleBorder)
  return odds / (odds + borderOdds)
}
