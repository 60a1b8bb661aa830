/**
 * Measures how closely an image of a live person can be cropped, and how small the face can be,
 * before liveness networks reject the person:
 *
 *   node eval/measure-liveness-limits.ts <folder|pairs.csv> [pack]
 *
 * Crops every fourth image of the set to several multiples of the face box, and shrinks it to several
 * face widths. Prints the share of images that score below the threshold.
 */
import sharp from 'sharp'
import { markdownTable } from '../bench/support/table.ts'
import { createProgressBar } from '../src/cli/command.ts'
import { openVision } from '../src/cli/evaluate/open-vision.ts'
import type { ImageAnalysis } from '../src/vision/image-analysis.ts'
import type { BoundingBox } from '../src/vision/image/geometry.ts'
import { readFaceSet } from '../src/evaluation/face-images.ts'

const marginFactors = [2, 1.8, 1.6, 1.5, 1.4, 1.3]
const faceSidesPx = [96, 80, 64, 56, 48, 40]
const livenessRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 1,
  crops: false,
  liveness: true,
}

const [source, pack = 'builtin'] = process.argv.slice(2)
if (!source) throw new Error('no set was given; pass a folder or a pairs.csv')
await using vision = await openVision([pack])
const names = [
  'whole image',
  ...marginFactors.map((factor) => `${factor} times the face box`),
  ...faceSidesPx.map((side) => `a face of ${side} px`),
]
const rows = new Map(names.map((name) => [name, { rejected: 0, count: 0 }]))
const files = (await readFaceSet(source)).images.filter((_, index) => index % 4 === 0)
const bar = createProgressBar('images')
for (const [index, { file }] of files.entries()) {
  await measureImage(file)
  bar.update(index + 1, files.length)
}
bar.end()
console.log(
  markdownTable(
    ['variant', 'images', 'below the threshold, %'],
    [...rows].map(([name, { rejected, count }]) => [
      name,
      `${count}`,
      ((100 * rejected) / count).toFixed(0),
    ]),
  ),
)

async function measureImage(file: string): Promise<void> {
  const whole = await sharp(file).png().toBuffer()
  const analysis = await analyzeVariant('whole image', whole)
  const box = analysis.faces[0]?.boundingBox
  if (!box) return
  const variants = [
    ...marginFactors.map(async (factor) => {
      const region = regionAround(box, factor, analysis)
      if (region)
        await analyzeVariant(
          `${factor} times the face box`,
          await sharp(whole).extract(region).png().toBuffer(),
        )
    }),
    ...faceSidesPx.map(async (side) => {
      const scale = side / Math.min(box.width, box.height)
      if (scale > 1) return
      const width = Math.round(analysis.width * scale)
      await analyzeVariant(
        `a face of ${side} px`,
        await sharp(whole).resize({ width }).png().toBuffer(),
      )
    }),
  ]
  await Promise.all(variants)
}

async function analyzeVariant(name: string, png: Buffer): Promise<ImageAnalysis> {
  const image = { bytes: png.toString('base64'), contentType: 'image/png' } as const
  const analysis = await vision.analyzeImage(image, livenessRequest)
  const { liveness } = analysis.faces[0] ?? {}
  const row = rows.get(name)
  if (liveness && row) {
    row.count++
    row.rejected += Number(liveness.score < liveness.liveMin)
  }
  return analysis
}

/** Returns `factor` times the box, moved inside the image; undefined if the image is smaller. */
function regionAround(box: BoundingBox, factor: number, { width, height }: ImageAnalysis) {
  const region = { width: Math.round(factor * box.width), height: Math.round(factor * box.height) }
  if (region.width > width || region.height > height) return undefined
  const clamp = (middle: number, size: number, limit: number): number =>
    Math.round(Math.min(limit - size, Math.max(0, middle - size / 2)))
  return {
    ...region,
    left: clamp(box.left + box.width / 2, region.width, width),
    top: clamp(box.top + box.height / 2, region.height, height),
  }
}
