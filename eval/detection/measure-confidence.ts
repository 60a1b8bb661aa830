import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { openVision, type EvaluationVisionClient } from '../../src/cli/evaluate/open-vision.ts'
import { boxProbabilityOf } from '../../src/compreface/box-probability.ts'
import { detectorKindOf } from '../../src/models/model-set.ts'
import { mapConcurrent } from '../../src/evaluation/map-concurrent.ts'
import { toEncodedImage } from '../../src/evaluation/face-images.ts'
import type { FaceResult, ImageAnalysis } from '../../src/vision/image-analysis.ts'

/**
 * Measures the confidence of detections and their box probability in the routes of CompreFace:
 * `node eval/detection/measure-confidence.ts <folder> [--models <pack>] [--every n] [--confidence c] [--cover]`
 *
 * Without `--cover`: the largest face of each picture, of the faces from the confidence `c` on. With
 * `--cover`: every face of a picture from the confidence 0.6 on is covered, and what the detector
 * still returns is counted as false.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    models: { type: 'string', multiple: true, default: [] },
    every: { type: 'string', default: '1' },
    confidence: { type: 'string', default: '0.2' },
    cover: { type: 'boolean', default: false },
  },
})
const [folder] = positionals
if (folder === undefined)
  throw new Error('usage: node eval/detection/measure-confidence.ts <folder>')
const confidenceMin = Number(values.confidence)
/** The threshold in the configuration of many clients of CompreFace. */
const thresholdOfClients = 0.8

await using vision = await openVision(values.models)
const files = (await Array.fromAsync(glob('**/*.{jpg,png}', { cwd: folder }))).toSorted()
const selected = files.filter((_, index) => index % Number(values.every) === 0)
const measured = await mapConcurrent(selected, measureFile, () => {})
const pictures = measured.filter((faces) => faces !== undefined)
const faces = pictures.flat()
const probability = boxProbabilityOf(detectorKindOf(vision.modelSet))
const countWhere = (accepts: (face: FaceResult) => boolean): number => faces.filter(accepts).length
const confidences = faces.map(({ confidence }) => confidence).toSorted((a, b) => a - b)
console.log({
  pictures: pictures.length,
  unreadable: selected.length - pictures.length,
  faces: faces.length,
  confidenceFrom06: countWhere(({ confidence }) => confidence >= 0.6),
  confidenceFrom08: countWhere(({ confidence }) => confidence >= thresholdOfClients),
  probabilityFrom08: countWhere(
    ({ confidence }) => probability.ofConfidence(confidence) >= thresholdOfClients,
  ),
  quantiles: Object.fromEntries(
    [0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 1].map((share) => [
      share,
      confidences[Math.round(share * (confidences.length - 1))]?.toFixed(3),
    ]),
  ),
})

/** Returns the faces of a picture to count; undefined if it cannot be decoded. */
async function measureFile(file: string): Promise<readonly FaceResult[] | undefined> {
  try {
    const bytes = await readFile(path.join(folder ?? '', file))
    const found = await analyze(vision, bytes, values.cover ? 0.6 : confidenceMin)
    if (!values.cover) return found.faces.slice(0, 1)
    return (await analyze(vision, await coverFaces(bytes, found), confidenceMin)).faces
  } catch {
    return undefined
  }
}

/** Covers each face and the half of its box around it with the mean colour of the picture. */
async function coverFaces(bytes: Buffer, { width, height, faces: found }: ImageAnalysis) {
  const upright = sharp(
    await sharp(bytes).rotate().removeAlpha().toColourspace('srgb').png().toBuffer(),
  )
  const { channels } = await upright.stats()
  const [red = 0, green = 0, blue = 0] = channels.map(({ mean }) => Math.round(mean))
  const colour = `rgb(${red},${green},${blue})`
  const covers = found.map(
    ({ boundingBox: box }) =>
      `<rect x="${box.left - box.width / 2}" y="${box.top - box.height / 2}" width="${2 * box.width}" height="${2 * box.height}" fill="${colour}"/>`,
  )
  const drawing = `<svg width="${width}" height="${height}">${covers.join('')}</svg>`
  return upright
    .composite([{ input: Buffer.from(drawing) }])
    .png()
    .toBuffer()
}

function analyze(
  client: EvaluationVisionClient,
  bytes: Buffer,
  minFaceConfidence: number,
): Promise<ImageAnalysis> {
  const request = { minFaceConfidence, minFaceSizePx: 20, maxFaces: 100, crops: false }
  return client.analyzeImage(toEncodedImage(bytes), request)
}
