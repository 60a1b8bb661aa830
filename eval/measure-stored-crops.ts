import { readFile } from 'node:fs/promises'
import { openVision } from '../src/cli/evaluate/open-vision.ts'
import { calibrationOf } from '../src/gallery/calibration/calibrations.ts'
import { similarityOf } from '../test/support/vision/similarity-of.ts'
import { findCentralFace } from '../src/evaluation/face-images.ts'
import type { FaceResult } from '../src/vision/image-analysis.ts'

/**
 * Measures how well stored crops replace the original images: `node eval/measure-stored-crops.ts <JPEG>…`
 *
 * Analyzes every face of at least 40 px a second time in its stored crop, with the built-in models.
 */
await using vision = await openVision([])
const storeRequest = { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 100, crops: false }
const anyFaceRequest = { ...storeRequest, minFaceConfidence: 0.3, minFaceSizePx: 1 }

const similarities: number[] = []
let [crops, cropBytes] = [0, 0]
for (const file of process.argv.slice(2)) {
  const bytes = (await readFile(file)).toString('base64')
  const request = { ...storeRequest, templates: true, contextCrops: true }
  const { faces } = await vision.analyzeImage({ bytes, contentType: 'image/jpeg' }, request)
  for (const face of faces) await analyzeStoredCrop(face)
}
const [lowest = Number.NaN] = similarities.toSorted((a, b) => a - b)
console.log(
  `${crops} crops of ${Math.round(cropBytes / crops)} bytes; ${similarities.length} found again, ` +
    `lowest similarity ${lowest.toFixed(3)}`,
)

async function analyzeStoredCrop({ contextCrop: bytes = '', template }: FaceResult): Promise<void> {
  crops += 1
  cropBytes += Buffer.byteLength(bytes, 'base64')
  const crop = { bytes, contentType: 'image/jpeg' } as const
  const analysis = await vision.analyzeImage(crop, { ...anyFaceRequest, templates: true })
  const cropTemplate = findCentralFace(analysis)?.template
  const calibration = template && calibrationOf(template.modelId)
  if (cropTemplate && calibration)
    similarities.push(similarityOf(template, cropTemplate, calibration))
}
