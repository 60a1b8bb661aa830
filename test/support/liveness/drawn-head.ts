import assert from 'node:assert/strict'
import sharp from 'sharp'
import { englishTexts as texts } from '../../../client/src/liveness/texts.ts'
import { openDrawing } from '../../../eval/challenge/draw-person.ts'
import { drawView, viewKinds } from '../../../eval/challenge/drawn-views.ts'
import { openViews } from '../../../eval/challenge/turned-heads.ts'
import { seededRandom } from '../../../src/lib/random/seeded-random.ts'
import { samplePhotograph } from '../facegate/test-facegate.ts'
import { testModelsFolder } from '../paths.ts'
import type { ChallengeStep } from '../../../src/lib/liveness/challenge-steps.ts'

/** The frontal face of a sample photograph: PNG, 480×480. */
export async function frontalPortrait(): Promise<Buffer> {
  const { bytes } = await samplePhotograph(5)
  return sharp(bytes).extract({ left: 220, top: 790, width: 480, height: 480 }).png().toBuffer()
}

/** The views of a solid head: frontal, and turned by each step, by two angles. JPEG. */
export type DrawnViews = {
  readonly frontal: Buffer
  readonly turned: Readonly<Record<ChallengeStep, readonly [Buffer, Buffer]>>
}

export async function drawViews(): Promise<DrawnViews> {
  await using drawing = await openDrawing(testModelsFolder)
  const picture = await drawing.readFrontal(await frontalPortrait(), 'sample')
  assert.ok(picture, 'the face of the sample photograph is frontal')
  const head = viewKinds.find(({ name }) => name === 'head')
  assert.ok(head)
  const random = seededRandom(7)
  const source = { ...picture, behind: picture }
  const draw = (degrees: number, step?: ChallengeStep): Promise<Buffer> =>
    drawView({ ...head, degrees }, source, { step, random })
  const frontal = await draw(0)
  const turn = async (step: ChallengeStep) => [await draw(32, step), await draw(40, step)] as const
  return {
    frontal,
    turned: {
      turnLeft: await turn('turnLeft'),
      turnRight: await turn('turnRight'),
      lookUp: await turn('lookUp'),
      lookDown: await turn('lookDown'),
    },
  }
}

/** Small steps, so that a requested angle contains several of them. */
const movingDegrees = Array.from({ length: 19 }, (_, index) => 12 + 2 * index)

/**
 * Returns the views of a solid head by the instruction that they follow, as `drawHead`, but those of
 * each direction by increasing angle.
 */
export async function drawMovingHead(): Promise<Record<string, string[]>> {
  await using drawing = await openDrawing(testModelsFolder)
  const picture = await drawing.readFrontal(await frontalPortrait(), 'sample')
  assert.ok(picture, 'the face of the sample photograph is frontal')
  // A head that a hand holds still: each view is turned further than the one before.
  const draw = await openViews('head', { ...picture, behind: picture }, () => 0.5)
  const images: Record<string, string[]> = {
    [texts.lookStraight]: [toUrl(await draw(undefined, 0))],
  }
  for (const step of ['turnLeft', 'turnRight', 'lookUp', 'lookDown'] as const) {
    const views: string[] = []
    for (const degrees of movingDegrees) views.push(toUrl(await draw(step, degrees)))
    images[texts.steps[step]] = views
  }
  return images
}

const toUrl = (jpeg: Buffer): string => `data:image/jpeg;base64,${jpeg.toString('base64')}`

/** The name of a picture without a face, for `holdText`. */
export const noFace = 'a wall'

/**
 * Returns the views of a solid head by the instruction that they follow, and a picture without a face. A direction that is requested
 * a second time shows another angle, as a person does.
 */
export async function drawHead(): Promise<Record<string, string[]>> {
  const { frontal, turned } = await drawViews()
  const images: Record<string, string[]> = { [texts.lookStraight]: [toUrl(frontal)] }
  for (const step of ['turnLeft', 'turnRight', 'lookUp', 'lookDown'] as const)
    images[texts.steps[step]] = turned[step].map(toUrl)
  const wall = { create: { width: 480, height: 480, channels: 3, background: '#a89f90' } } as const
  images[noFace] = [toUrl(await sharp(wall).jpeg().toBuffer())]
  return images
}
