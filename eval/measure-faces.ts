import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { countMainFaces } from '../src/actions/parts/main-faces.ts'
import { openVision, type EvaluationVisionClient } from '../src/cli/evaluate/open-vision.ts'
import { mapConcurrent } from '../src/evaluation/map-concurrent.ts'
import { toEncodedImage } from '../src/evaluation/face-images.ts'
import type { ImageAnalysis } from '../src/vision/image-analysis.ts'

/**
 * Counts the JPEGs of a folder without a face, with several faces and with several main faces, as an
 * enrollment counts them:
 * `node eval/measure-faces.ts <folder> [--models <pack>] [--every n] [--first i] [--rotate degrees] [--crop factor]`
 *
 * `--rotate` rotates each picture around its centre. `--crop` then cuts it to a square of that many
 * sides of its largest face, 600 px.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    models: { type: 'string', multiple: true, default: [] },
    every: { type: 'string', default: '1' },
    first: { type: 'string', default: '0' },
    rotate: { type: 'string', default: '0' },
    crop: { type: 'string', default: '0' },
  },
})
const [folder] = positionals
if (folder === undefined) throw new Error('usage: node eval/measure-faces.ts <folder>')
const degrees = Number(values.rotate)
const enrollRequest = { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 1, crops: false }

await using vision = await openVision(values.models)
const files = (await Array.fromAsync(glob('**/*.jpg', { cwd: folder }))).toSorted()
const selected = files.filter((_, index) => index % Number(values.every) === Number(values.first))
const pictures = await mapConcurrent(selected, analyzeFile, () => {})
const analyses = pictures.filter((analysis) => analysis !== undefined)
const countWhere = (accepts: (analysis: ImageAnalysis) => boolean): number =>
  analyses.filter(accepts).length
console.log({
  pictures: analyses.length,
  faces: analyses.reduce((sum, { faceCount }) => sum + faceCount, 0),
  withoutFace: countWhere(({ faceCount }) => faceCount === 0),
  withSeveralFaces: countWhere(({ faceCount }) => faceCount > 1),
  withSeveralMainFaces: countWhere(({ faceSidesPx }) => countMainFaces(faceSidesPx) > 1),
})

/** Returns undefined if the picture shows no face that it could be cropped to. */
async function analyzeFile(file: string): Promise<ImageAnalysis | undefined> {
  const bytes = await readFile(path.join(folder ?? '', file))
  const crop = Number(values.crop)
  if (degrees === 0 && crop === 0) return analyze(vision, bytes)
  const rotated = await sharp(bytes).rotate(degrees, { background: '#808080' }).png().toBuffer()
  if (crop === 0) return analyze(vision, rotated)
  const { width, height, faces } = await analyze(vision, bytes)
  if (!faces[0]) return undefined
  const { boundingBox: box } = faces[0]
  const offset = { x: box.left + (box.width - width) / 2, y: box.top + (box.height - height) / 2 }
  return analyze(vision, await cropAround(rotated, offset, crop * Math.max(box.width, box.height)))
}

/** Cuts a square around the point that had this offset from the centre before the rotation. */
async function cropAround(
  rotated: Buffer,
  offset: { readonly x: number; readonly y: number },
  side: number,
): Promise<Buffer> {
  const { width, height } = await sharp(rotated).metadata()
  const radians = (degrees * Math.PI) / 180
  const x = width / 2 + offset.x * Math.cos(radians) - offset.y * Math.sin(radians)
  const y = height / 2 + offset.x * Math.sin(radians) + offset.y * Math.cos(radians)
  const left = Math.max(0, Math.round(x - side / 2))
  const top = Math.max(0, Math.round(y - side / 2))
  const extent = (start: number, limit: number) => Math.min(limit - start, Math.round(side))
  return sharp(rotated)
    .extract({ left, top, width: extent(left, width), height: extent(top, height) })
    .resize({ width: 600 })
    .png()
    .toBuffer()
}

function analyze(client: EvaluationVisionClient, bytes: Buffer): Promise<ImageAnalysis> {
  return client.analyzeImage(toEncodedImage(bytes), enrollRequest)
}
