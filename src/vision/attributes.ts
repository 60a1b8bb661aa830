import { builtinPack } from '../models/builtin.ts'
import { arcfaceTemplate, fivePoints } from './arcface.ts'
import { expressionOf } from './expression.ts'
import { namedLandmarks } from './mesh.ts'
import type { Found, Scene } from './scene.ts'
import { output } from './session.ts'
import type { Outputs } from './session.ts'
import { providersOf } from './sessions.ts'
import type { Sessions } from './sessions.ts'
import { chipOver, fitSimilarity } from './similarity.ts'
import { toTensor } from './tensor.ts'
import { tightSquare } from './tight-square.ts'
import type { AttributeName, Attributes } from './face-attributes.ts'

/** Reads off a face how it looks. */
export type AttributeReader = {
  /** "id@version" of the models that read these. */
  readonly providers: (names: readonly AttributeName[]) => string
  /** Runs the networks of `names` and no others. */
  readonly read: (names: readonly AttributeName[], face: Found, scene: Scene) => Promise<Attributes>
}

/** The networks are built in, and loaded when they are first asked. */
export function createAttributeReader(sessions: Sessions): AttributeReader {
  return {
    providers: (names) => providersOf(modelsOf(names).map((id) => models[id])),
    read: (names, face, scene) =>
      scene.watch.time('attributes', async () => {
        const faceres =
          names.includes('age') || names.includes('gender')
            ? await runFaceres(sessions, face, scene)
            : undefined
        return {
          ...(faceres &&
            names.includes('age') && { age: await age(sessions, face, scene, faceres) }),
          ...(faceres && names.includes('gender') && { male: maleness(faceres) }),
          ...(names.includes('expression') && {
            expression: await expressionOf(sessions, face, scene),
          }),
        }
      }),
  }
}

const { models } = builtinPack

function modelsOf(names: readonly AttributeName[]): (keyof typeof models)[] {
  const used = [
    (names.includes('age') || names.includes('gender')) && ('faceres' as const),
    names.includes('age') && ('age_gender' as const),
    ...(names.includes('expression') ? (['face_expression', 'emotion'] as const) : []),
  ]
  return used.filter((id) => id !== false)
}

/** Aligned as for recognition, but nearer: 0.9 instead of 0.8 of ArcFace's chip. */
async function runFaceres(
  sessions: Sessions,
  { mesh }: Found,
  { pyramid }: Scene,
): Promise<Outputs> {
  const { input, recipe } = models.faceres
  const template = arcfaceTemplate(input.width, recipe.attributesTemplateScale)
  const toFrame = fitSimilarity(template, fivePoints(namedLandmarks(mesh)))
  const session = await sessions.builtin('faceres')
  return session.run(toTensor(await pyramid.sample(toFrame, input), input))
}

/**
 * Years: the mean of two networks, the expectation over the bins of faceres and the answer of
 * age_gender, which wants the tight square box.
 */
async function age(
  sessions: Sessions,
  { mesh }: Found,
  { pyramid }: Scene,
  faceres: Outputs,
): Promise<number> {
  const { input, recipe } = models.age_gender
  const square = tightSquare(mesh, recipe.cropFactor)
  const chip = await pyramid.sample(chipOver(square, input), input)
  const session = await sessions.builtin('age_gender')
  const direct = output(await session.run(toTensor(chip, input)), 'age')[0] ?? 0
  const expected = output(faceres, 'age').reduce((sum, share, years) => sum + share * years, 0)
  return (direct + expected) / 2
}

/** The network's probability, its log odds shifted so that 0.5 is the border that errs least. */
function maleness(faceres: Outputs): number {
  const share = output(faceres, 'gender')[0] ?? 0.5
  const odds = share / Math.max(1e-9, 1 - share)
  const { maleBorder } = models.faceres.recipe
  const border = maleBorder / (1 - maleBorder)
  return odds / (odds + border)
}
