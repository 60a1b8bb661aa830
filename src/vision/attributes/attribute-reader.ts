import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { arcfaceTemplate, landmarkPoints } from '../landmarks/arcface-template.ts'
import { predictExpression } from './expression.ts'
import { meshLandmarks } from '../landmarks/mesh.ts'
import type { DetectedFace, ImageContext } from '../image-context.ts'
import { requireOutput } from '../session.ts'
import type { ModelOutputs } from '../session.ts'
import { formatProviders } from '../model-sessions.ts'
import type { ModelSessions } from '../model-sessions.ts'
import { cropTransform, fitSimilarityTransform } from '../image/similarity-transform.ts'
import { toTensor } from '../tensor.ts'
import { attributeCrop } from './attribute-crop.ts'
import type { AttributeName, FaceAttributes } from './face-attributes.ts'

/** Reads off a face how it looks. */
export type AttributeReader = {
  /** "id@version" of the models that read these. */
  readonly providersFor: (names: readonly AttributeName[]) => string
  /** Runs the networks of `names` and no others. */
  readonly read: (
    names: readonly AttributeName[],
    face: DetectedFace,
    scene: ImageContext,
  ) => Promise<FaceAttributes>
}

/** The networks are built in, and loaded when they are first asked. */
export function createAttributeReader(sessions: ModelSessions): AttributeReader {
  return {
    providersFor: (names) => formatProviders(modelIdsFor(names).map((id) => models[id])),
    read: (names, face, scene) =>
      scene.stopwatch.time('attributes', async () => {
        const faceres =
          names.includes('age') || names.includes('gender')
            ? await runFaceres(sessions, face, scene)
            : undefined
        return {
          ...(faceres &&
            names.includes('age') && { age: await predictAge(sessions, face, scene, faceres) }),
          ...(faceres &&
            names.includes('gender') && {
              maleProbability: maleProbability(faceres),
            }),
          ...(names.includes('expression') && {
            expression: await predictExpression(sessions, face, scene),
          }),
        }
      }),
  }
}

const { models } = builtinPack

function modelIdsFor(names: readonly AttributeName[]): (keyof typeof models)[] {
  const used = [
    (names.includes('age') || names.includes('gender')) && ('faceres' as const),
    names.includes('age') && ('age_gender' as const),
    ...(names.includes('expression') ? (['face_expression', 'emotion'] as const) : []),
  ]
  return used.filter((id) => id !== false)
}

/** Aligned as for recognition, but nearer: 0.9 instead of 0.8 of ArcFace's chip. */
async function runFaceres(
  sessions: ModelSessions,
  { mesh }: DetectedFace,
  { pyramid }: ImageContext,
): Promise<ModelOutputs> {
  const { input, constants: recipe } = models.faceres
  const template = arcfaceTemplate(input.width, recipe.attributesTemplateScale)
  const toFrame = fitSimilarityTransform(template, landmarkPoints(meshLandmarks(mesh)))
  const session = await sessions.openBuiltin('faceres')
  return session.run(toTensor(await pyramid.sample(toFrame, input), input))
}

/**
 * Years: the mean of two networks, the expectation over the bins of faceres and the answer of
 * age_gender, which wants the tight square box.
 */
async function predictAge(
  sessions: ModelSessions,
  { mesh }: DetectedFace,
  { pyramid }: ImageContext,
  faceres: ModelOutputs,
): Promise<number> {
  const { input, constants: recipe } = models.age_gender
  const square = attributeCrop(mesh, recipe.cropFactor)
  const chip = await pyramid.sample(cropTransform(square, input), input)
  const session = await sessions.openBuiltin('age_gender')
  const direct = requireOutput(await session.run(toTensor(chip, input)), 'age')[0] ?? 0
  const expected = requireOutput(faceres, 'age').reduce(
    (sum, share, years) => sum + share * years,
    0,
  )
  return (direct + expected) / 2
}

/** The network's probability, its log odds shifted so that 0.5 is the border that errs least. */
function maleProbability(faceres: ModelOutputs): number {
  const share = requireOutput(faceres, 'gender')[0] ?? 0.5
  const odds = share / Math.max(1e-9, 1 - share)
  const { maleBorder } = models.faceres.constants
  const border = maleBorder / (1 - maleBorder)
  return odds / (odds + border)
}
