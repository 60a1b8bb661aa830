/**
 * How little a picture of a live person may show before liveness networks turn the person away:
 *
 *   node eval/liveness-limits.ts <folder|pairs.csv> [pack]
 *
 * Takes every fourth picture of the set, cuts it to some times the face's box, and shrinks it until
 * the face is some pixels wide; prints which share of them scores below the threshold.
 */
import sharp from 'sharp'
import { table } from '../bench/table.ts'
import { progressBar } from '../src/cli/progress.ts'
import { openVision } from '../src/cli/vision.ts'
import type { Box, View } from '../src/vision/view.ts'
import { readFaceSet } from './face-set.ts'

const reaches = [2, 1.8, 1.6, 1.5, 1.4, 1.3]
const sides = [96, 80, 64, 56, 48, 40]
const look = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 1,
  crops: false,
  liveness: true,
}

const [place, pack = 'builtin'] = process.argv.slice(2)
if (!place) throw new Error('name a set')
await using vision = await openVision([pack])
const rows = new Map<string, { turnedAway: number; count: number }>()
const files = (await readFaceSet(place)).pictures.filter((_, index) => index % 4 === 0)
const bar = progressBar('pictures')
for (const [index, { file }] of files.entries()) {
  await measure(file)
  bar.update(index + 1, files.length)
}
bar.end()
console.log(
  table(
    ['what is shown', 'pictures', 'below the threshold, %'],
    [...rows].map(([name, { turnedAway, count }]) => [
      name,
      `${count}`,
      ((100 * turnedAway) / count).toFixed(0),
    ]),
  ),
)

async function measure(file: string): Promise<void> {
  const whole = await sharp(file).png().toBuffer()
  const view = await seen('all', whole)
  const box = view.faces[0]?.boundingBox
  if (!box) return
  const jobs = [
    ...reaches.map(async (reach) => {
      const region = regionAbout(box, reach, view)
      if (region)
        await seen(`${reach} times the face`, await sharp(whole).extract(region).png().toBuffer())
    }),
    ...sides.map(async (side) => {
      const scale = side / Math.min(box.width, box.height)
      if (scale > 1) return
      const width = Math.round(view.width * scale)
      await seen(`face of ${side} px`, await sharp(whole).resize({ width }).png().toBuffer())
    }),
  ]
  await Promise.all(jobs)
}

async function seen(name: string, png: Buffer): Promise<View> {
  const picture = { bytes: png.toString('base64'), contentType: 'image/png' } as const
  const view = await vision.look(picture, look)
  const { liveness } = view.faces[0] ?? {}
  if (liveness) {
    const row = rows.get(name) ?? { turnedAway: 0, count: 0 }
    row.count++
    row.turnedAway += Number(liveness.score < liveness.liveMin)
    rows.set(name, row)
  }
  return view
}

/** `reach` times the box, shifted into the picture; undefined where the picture is smaller. */
function regionAbout(box: Box, reach: number, { width, height }: View) {
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
