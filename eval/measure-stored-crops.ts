import { readFile } from 'node:fs/promises'
import { openVision } from '../src/cli/evaluate/open-vision.ts'
import { calibrationOf } from '../src/gallery/calibration/calibrations.ts'
import { similarityOf } from '../src/gallery/calibration/similarity.ts'
import type { FaceResult, ImageAnalysis } from '../src/vision/image-analysis.ts'

/**
 * How well stored crops stand for the pictures they are of: node eval/measure-stored-crops.ts <JPEG>…
 *
 * Every face from 40 px on is looked at again in its crop, by the built-in models.
 */
await using vision = await openVision([])
const storeRequest = { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 100, crops: false }
const anyFaceRequest = { ...storeRequest, minFaceConfidence: 0.3, minFaceSizePx: 1 }

const similarities: number[] = []
let [crops, cropBytes] = [0, 0]
for (const file of process.argv.slice(2)) {
  const bytes = (await readFile(file)).toString('base64')
  const look = { ...storeRequest, templates: true, contextCrops: true }
  const { faces } = await vision.analyzeImage({ bytes, contentType: 'image/jpeg' }, look)
  for (const face of faces) await analyzeStoredCrop(face)
}
const [least = Number.NaN] = similarities.toSorted((a, b) => a - b)
console.log(
  `${crops} crops of ${Math.round(cropBytes / crops)} bytes; ${similarities.length} found again, ` +
    `least similarity ${least.toFixed(3)}`,
)

async function analyzeStoredCrop({ contextCrop: bytes = '', template }: FaceResult): Promise<void> {
  crops += 1
  cropBytes += Buffer.byteLength(bytes, 'base64')
  const picture = { bytes, contentType: 'image/jpeg' } as const
  const view = await vision.analyzeImage(picture, { ...anyFaceRequest, templates: true })
  const again = findCentralFace(view)?.template
  const calibration = template && calibrationOf(template.modelId)
  if (again && calibration) similarities.push(similarityOf(template, again, calibration))
}

function findCentralFace({ faces, width, height }: ImageAnalysis): FaceResult | undefined {
  const off = ({ boundingBox: box }: FaceResult): number =>
    Math.hypot(box.left + (box.width - width) / 2, box.top + (box.height - height) / 2)
  return faces.toSorted((a, b) => off(a) - off(b))[0]
}
