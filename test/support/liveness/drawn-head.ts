import assert from 'node:assert/strict'
import sharp from 'sharp'
import { englishTexts as texts } from '../../../client/src/liveness/texts.ts'
import { openDrawing } from '../../../eval/challenge/draw-person.ts'
import { drawView, viewKinds } from '../../../eval/challenge/drawn-views.ts'
import { seededRandom } from '../../../src/lib/random/seeded-random.ts'
import { samplePhotograph } from '../facegate/test-facegate.ts'
import { testModelsFolder } from '../paths.ts'

/** The frontal face of a sample photograph: PNG, 480×480. */
export async function frontalPortrait(): Promise<Buffer> {
  const { bytes } = await samplePhotograph(5)
  return sharp(bytes).extract({ left: 220, top: 790, width: 480, height: 480 }).png().toBuffer()
}

/**
 * Returns the views of a solid head by the instruction that they follow. A direction that is requested
 * a second time shows another angle, as a person does.
 */
export async function drawHead(): Promise<Record<string, string[]>> {
  await using drawing = await openDrawing(testModelsFolder)
  const picture = await drawing.readFrontal(await frontalPortrait(), 'sample')
  assert.ok(picture, 'the face of the sample photograph is frontal')
  const head = viewKinds.find(({ name }) => name === 'head')
  assert.ok(head)
  const random = seededRandom(7)
  const source = { ...picture, behind: picture }
  const draw = async (degrees: number, step?: keyof typeof texts.steps): Promise<string> => {
    const jpeg = await drawView({ ...head, degrees }, source, { step, random })
    return `data:image/jpeg;base64,${jpeg.toString('base64')}`
  }
  const images: Record<string, string[]> = { [texts.lookStraight]: [await draw(0)] }
  for (const step of ['turnLeft', 'turnRight', 'lookUp', 'lookDown'] as const)
    images[texts.steps[step]] = [await draw(32, step), await draw(40, step)]
  return images
}
