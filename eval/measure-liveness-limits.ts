/**
 * How little a picture of a live person may show before liveness networks turn the person away:
 *
 *   node eval/measure-liveness-limits.ts <folder|pairs.csv> [pack]
 *
 * Takes every fourth picture of the set, cuts it to some times the face's box, and shrinks it until
 * the face is some pixels wide; prints which share of them scores below the threshold.
 */
import sharp from 'sharp'
import { markdownTable } from '../bench/support/table.ts'
import { createProgressBar } from '../src/cli/progress-bar.ts'
import { openVision } from '../src/cli/evaluate/open-vision.ts'
import type { BoundingBox, ImageAnalysis } from '../src/vision/image-analysis.ts'
import { readFaceSet } from '../src/evaluation/face-set.ts'

const marginFactors = [2, 1.8, 1.6, 1.5, 1.4, 1.3]
const faceSidesPx = [96, 80, 64, 56, 48, 40]
const livenessRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 1,
  crops: false,
  liveness: true,
}

const [place, pack = 'builtin'] = process.argv.slice(2)
if (!place) throw new Error('name a set')
await using vision = await openVision([pack])
const names = [
  'all of it',
  ...marginFactors.map((reach) => `${reach} times the face`),
  ...faceSidesPx.map((side) => `a face of ${side} px`),
]
const rows = new Map(names.map((name) => [name, { turnedAway: 0, count: 0 }]))
const files = (await readFaceSet(place)).pictures.filter((_, index) => index % 4 === 0)
const bar = createProgressBar('pictures')
for (const [index, { file }] of files.entries()) {
  await measureImage(file)
  bar.update(index + 1, files.length)
}
bar.end()
console.log(
  markdownTable(
    ['what is shown', 'pictures', 'below the threshold, %'],
    [...rows].map(([name, { turnedAway, count }]) => [
      name,
      `${count}`,
      ((100 * turnedAway) / count).toFixed(0),
    ]),
  ),
)

async function measureImage(file: string): Promise<void> {
  const whole = await sharp(file).png().toBuffer()
  const view = await analyzeVariant('all of it', whole)
  const box = view.faces[0]?.boundingBox
  if (!box) return
  const jobs = [
    ...marginFactors.map(async (reach) => {
      const region = regionAround(box, reach, view)
      if (region)
        await analyzeVariant(
          `${reach} times the face`,
          await sharp(whole).extract(region).png().toBuffer(),
        )
    }),
    ...faceSidesPx.map(async (side) => {
      const scale = side / Math.min(box.width, box.height)
      if (scale > 1) return
      const width = Math.round(view.width * scale)
      await analyzeVariant(
        `a face of ${side} px`,
        await sharp(whole).resize({ width }).png().toBuffer(),
      )
    }),
  ]
  await Promise.all(jobs)
}

async function analyzeVariant(name: string, png: Buffer): Promise<ImageAnalysis> {
  const picture = { bytes: png.toString('base64'), contentType: 'image/png' } as const
  const view = await vision.analyzeImage(picture, livenessRequest)
  const { liveness } = view.faces[0] ?? {}
  const row = rows.get(name)
  if (liveness && row) {
    row.count++
    row.turnedAway += Number(liveness.score < liveness.liveMin)
  }
  return view
}

/** `reach` times the box, shifted into the picture; undefined where the picture is smaller. */
function regionAround(box: BoundingBox, reach: number, { width, height }: ImageAnalysis) {
  const region = { width: Math.round(reach * box.width), height: Math.round(reach * box.height) }
  if (region.width > width || region.height > height) return undefined
  const inside = (middle: number, size: number, limit: number): number =>
    Math.round(Math.min(limit - size, Math.max(0, middle - size / 2)))
  return {
    ...region,
    left: inside(box.left + box.width / 2, region.width, width),
    top: inside(box.top + box.height / 2, region.height, height),
  }
}
