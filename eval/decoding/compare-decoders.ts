/**
 * Compares the decoder of JPEGs of at most 2048 px (libjpeg-turbo) with libvips:
 *
 *   node eval/decoding/compare-decoders.ts <folder> [--every n]
 *
 * Analyzes each n-th JPEG as it is, and as a PNG with the pixels of libvips. Prints the differences of
 * faces and templates. For comparison, it prints the same differences between the JPEG qualities 95 and
 * 80. If the folder has one subfolder for each person, it prints the TAR too.
 */
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readFile } from 'node:fs/promises'
import sharp from 'sharp'
import { markdownTable, median } from '../../bench/support/table.ts'
import { createProgressBar } from '../../src/cli/command.ts'
import { openVision } from '../../src/cli/evaluate/open-vision.ts'
import {
  findCentralFace,
  templatesRequest,
  toEncodedImage,
} from '../../src/evaluation/face-images.ts'
import { mapConcurrent } from '../../src/evaluation/map-concurrent.ts'
import { operatingPoints } from '../../src/evaluation/verification/acceptance-points.ts'
import { scoreAllPairs, scorers } from '../../src/evaluation/verification/pair-scores.ts'
import type { PersonTemplate } from '../../src/evaluation/verification/pair-scores.ts'
import { ActionError } from '../../src/lib/errors.ts'
import type { Template } from '../../src/vision/embed/template.ts'
import type { ImageAnalysis } from '../../src/vision/image-analysis.ts'
import { frameSidePxMax } from '../../src/vision/image/decode.ts'
import { findImages } from '../quantization/find-images.ts'

/** False acceptance rates; a few hundred pictures cannot resolve lower ones. */
const fars = [1e-3, 1e-4]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { every: { type: 'string', default: '1' } },
})
const [folder] = positionals
if (folder === undefined) throw new Error('no folder was given; pass a folder of JPEGs')

/** The analyses of one picture by the form in which it was sent. */
type Forms = Record<'turbo' | 'vips' | 'quality95' | 'quality80', ImageAnalysis>

await using vision = await openVision([])
const files = (await findImages([folder], Number(values.every))).filter((f) => f.endsWith('.jpg'))
const bar = createProgressBar('images')
const all = await mapConcurrent(files, analyzeForms, bar.update)
bar.end()
const analyses = all.filter((forms) => forms !== undefined)
console.log(`${analyses.length} pictures of at most ${frameSidePxMax} px`)
console.log(
  markdownTable(
    [
      '',
      'faces',
      'other count',
      'box shift, %',
      'largest',
      'confidence',
      'template distance',
      '95 %',
    ],
    [
      compare('decoders', 'turbo', 'vips'),
      compare('qualities 95 and 80', 'quality95', 'quality80'),
    ],
  ),
)
console.log(
  markdownTable(
    ['templates', ...fars.map((far) => `TAR @${far.toExponential(0)}`)],
    [
      ['libvips', ...measureTar('vips', 'vips')],
      ['libjpeg-turbo', ...measureTar('turbo', 'turbo')],
      ['one of each', ...measureTar('turbo', 'vips')],
    ],
  ),
)

/** Returns undefined for a picture that is too large, or that cannot be analyzed. */
async function analyzeForms(file: string): Promise<Forms | undefined> {
  const bytes = await readFile(file)
  const image = sharp(bytes, { autoOrient: true })
  const { width, height } = await image.metadata()
  if (Math.max(width, height) > frameSidePxMax) return undefined
  const png = await image.png({ compressionLevel: 1 }).toBuffer()
  try {
    return {
      turbo: await analyze(bytes),
      vips: await analyze(png),
      quality95: await analyze(await recode(png, 95)),
      quality80: await analyze(await recode(png, 80)),
    }
  } catch (error) {
    if (error instanceof ActionError) return undefined
    throw error
  }
}

/** Returns a PNG with the pixels of libvips after a compression with this quality. */
async function recode(png: Buffer, quality: number): Promise<Buffer> {
  return sharp(await sharp(png).jpeg({ quality }).toBuffer())
    .png({ compressionLevel: 1 })
    .toBuffer()
}

function analyze(bytes: Buffer): Promise<ImageAnalysis> {
  return vision.analyzeImage(toEncodedImage(bytes), templatesRequest)
}

/** Compares the faces of pictures with equal counts, and the templates of their central faces. */
function compare(name: string, a: keyof Forms, b: keyof Forms): string[] {
  const equal = analyses.filter((forms) => forms[a].faceCount === forms[b].faceCount)
  const shifts = equal.flatMap((forms) =>
    forms[a].faces.map(({ boundingBox: box }) => {
      const centre = (other: typeof box) => [
        other.left + other.width / 2,
        other.top + other.height / 2,
      ]
      const [x = 0, y = 0] = centre(box)
      const distances = forms[b].faces.map((face) => {
        const [otherX = 0, otherY = 0] = centre(face.boundingBox)
        return Math.hypot(x - otherX, y - otherY)
      })
      return (100 * Math.min(...distances)) / Math.max(box.width, box.height)
    }),
  )
  const central = equal.map(
    (forms) => [findCentralFace(forms[a]), findCentralFace(forms[b])] as const,
  )
  const pairs = central.flatMap(([first, second]) =>
    first && second ? [[first, second] as const] : [],
  )
  const confidences = pairs.map(([first, second]) => Math.abs(first.confidence - second.confidence))
  const distances = pairs
    .flatMap(([{ template: first }, { template: second }]) =>
      first && second ? [Math.sqrt(-scorers.raw(first, second))] : [],
    )
    .toSorted((x, y) => x - y)
  return [
    name,
    String(shifts.length),
    String(analyses.length - equal.length),
    median(shifts).toFixed(2),
    Math.max(...shifts).toFixed(1),
    median(confidences).toFixed(4),
    median(distances).toFixed(3),
    (distances[Math.floor(0.95 * distances.length)] ?? Number.NaN).toFixed(3),
  ]
}

/** Returns the TAR of all pairs of a template of form `a` with one of form `b`. */
function measureTar(a: keyof Forms, b: keyof Forms): string[] {
  const others = new Map<Template, Template>()
  const faces = files.flatMap((file, index): PersonTemplate[] => {
    const forms = all[index]
    const template = forms && findCentralFace(forms[a])?.template
    const other = forms && findCentralFace(forms[b])?.template
    if (!template || !other) return []
    others.set(template, other)
    return [{ person: path.dirname(file), template }]
  })
  const score = (first: Template, second: Template) =>
    scorers.raw(first, others.get(second) ?? second)
  const points = operatingPoints(scoreAllPairs(faces, score), fars)
  return points.map(({ tar }) => `${(100 * tar).toFixed(2)} %`)
}
