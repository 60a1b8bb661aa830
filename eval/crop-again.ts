import { readFile } from 'node:fs/promises'
import { openVision } from '../src/cli/vision.ts'
import { calibrationOf } from '../src/gallery/calibrations.ts'
import { similarityOf } from '../src/gallery/similarity.ts'
import type { SeenFace, View } from '../src/vision/view.ts'

/**
 * How well stored crops stand for the pictures they are of: node eval/crop-again.ts <JPEG>…
 *
 * Every face from 40 px on is looked at again in its crop, by the built-in models.
 */
await using vision = await openVision([])
const faceToStore = { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 100, crops: false }
const anyFace = { ...faceToStore, minFaceConfidence: 0.3, minFaceSizePx: 1 }

const similarities: number[] = []
let [crops, cropBytes] = [0, 0]
for (const file of process.argv.slice(2)) {
  const bytes = (await readFile(file)).toString('base64')
  const look = { ...faceToStore, templates: true, contextCrops: true }
  const { faces } = await vision.look({ bytes, contentType: 'image/jpeg' }, look)
  for (const face of faces) await lookAgain(face)
}
const [least = Number.NaN] = similarities.toSorted((a, b) => a - b)
console.log(
  `${crops} crops of ${Math.round(cropBytes / crops)} bytes; ${similarities.length} found again, ` +
    `least similarity ${least.toFixed(3)}`,
)

async function lookAgain({ contextCrop: bytes = '', template }: SeenFace): Promise<void> {
  crops += 1
  cropBytes += Buffer.byteLength(bytes, 'base64')
  const picture = { bytes, contentType: 'image/jpeg' } as const
  const view = await vision.look(picture, { ...anyFace, templates: true })
  const again = middleOf(view)?.template
  const calibration = template && calibrationOf(template.modelId)
  if (again && calibration) similarities.push(similarityOf(template, again, calibration))
}

function middleOf({ faces, width, height }: View): SeenFace | undefined {
  const off = ({ boundingBox: box }: SeenFace): number =>
    Math.hypot(box.left + (box.width - width) / 2, box.top + (box.height - height) / 2)
  return faces.toSorted((a, b) => off(a) - off(b))[0]
}
