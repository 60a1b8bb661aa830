/**
 * Measures from which score on the faces of an installed detector need no confirmation by the mesh:
 *
 *   node eval/detection/measure-confirmation.ts <folder of pictures> <folder of models> [pack] [every n]
 *
 * Each kind of mask is drawn over the main face of every picture. A masked face counts as found if the
 * detector returns it and its score reaches the limit, or the mesh confirms it. In a second copy of the
 * picture, every face that one of the two detectors finds is covered; what the installed detector still
 * returns there is false.
 */
import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'
import { markdownTable } from '../../bench/support/table.ts'
import { createProgressBar } from '../../src/cli/command.ts'
import { seededRandom } from '../../src/lib/random/seeded-random.ts'
import { catalogue } from '../../src/models/catalogue/catalogue.ts'
import { requireDetectorDecoding } from '../../src/models/decoding.ts'
import type { InstalledModel } from '../../src/models/model-set.ts'
import { openInstalledDetector } from '../../src/vision/detect/open-detector.ts'
import { boundsOf, iou, type Rect } from '../../src/vision/image/geometry.ts'
import { coverKinds, coverShapes, drawCover } from '../occlusion/draw-cover.ts'
import { isWanted, openMeshAnalyzer, skinOf } from '../occlusion/mesh-analyzer.ts'

/** A detection: its score, and whether the mesh confirms it. */
type Scored = { readonly score: number; readonly isConfirmed: boolean }

const [pictures, models, packName = 'recommended', every = '1'] = process.argv.slice(2)
if (!pictures || !models) throw new Error('pass a folder of pictures and the folder of the models')
const limits = [0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.01]
const maskKinds = coverKinds.filter((kind) => kind.endsWith('Mask'))

/** The box of the mesh is smaller than that of the face. */
const samePlaceIouMin = 0.3

const builtin = await openMeshAnalyzer()
const detect = await openScoredDetector()
const random = seededRandom(1)
const masked: (Scored | undefined)[] = []
const falseDetections: Scored[] = []
const files = (await Array.fromAsync(glob('**/*.{jpg,png}', { cwd: pictures }))).toSorted()
const selected = files.filter((_, index) => index % Number(every) === 0)
const bar = createProgressBar('pictures')
for (const [index, file] of selected.entries()) {
  await measurePicture(await readFile(path.join(pictures, file)))
  bar.update(index + 1, selected.length)
}
bar.end()
await builtin.close()
const rows = limits.map((limit) => {
  const counts = (one: Scored | undefined) => one && (one.isConfirmed || one.score >= limit)
  return [limit, masked.filter(counts).length, falseDetections.filter(counts).length].map(String)
})
console.log(`${masked.length} masked faces, ${masked.filter(Boolean).length} detected`)
console.log(markdownTable(['confirmed below', 'masked faces found', 'false detections'], rows))

async function measurePicture(bytes: Buffer): Promise<void> {
  const analysis = await builtin.analyzeImage(bytes)
  if (!analysis) return
  const face = boundsOf(analysis.mesh.points)
  const subject = { points: analysis.mesh.points, skinColour: skinOf(analysis), random }
  for (const kind of maskKinds) {
    const drawn = await drawCover(bytes, analysis.size, coverShapes(kind, subject))
    const found = await detect(drawn)
    masked.push(found.find(({ box }) => iou(box, face) >= samePlaceIouMin))
  }
  const context = await builtin.readContext(bytes)
  const boxes = [...(await builtin.detectFaces(context)), ...(await detect(bytes))]
  const covered = await coverBoxes(bytes, analysis.size, boxes)
  falseDetections.push(...(await detect(covered)))
}

/** Draws a grey rectangle over each box and the half of its size around it. */
function coverBoxes(
  bytes: Buffer,
  size: { readonly width: number; readonly height: number },
  boxes: readonly { readonly box: Rect }[],
): Promise<Buffer> {
  const shapes = boxes.map(
    ({ box }) =>
      `<rect x="${box.x - box.width / 2}" y="${box.y - box.height / 2}" width="${2 * box.width}" height="${2 * box.height}" fill="#777"/>`,
  )
  return drawCover(bytes, size, shapes.join(''))
}

/** Opens the detector of the pack; its detections have the score of the network. */
async function openScoredDetector() {
  const pack = catalogue.find(({ name }) => name === packName)
  const model = pack?.models.find(({ role }) => role === 'detector')
  if (!model) throw new Error(`${packName} has no detector`)
  const decoding = requireDetectorDecoding(model)
  const { scoreThreshold } = decoding
  const withDecoding = (changed: object): InstalledModel => ({
    folder: models ?? '',
    model: { ...model, decoding: { ...decoding, ...changed } },
  })
  const confirming = await openInstalledDetector(
    withDecoding({ confirmBelow: undefined }),
    builtin.sessions,
  )
  const scoring = await openInstalledDetector(
    withDecoding({ certainScore: undefined, confirmBelow: 0 }),
    builtin.sessions,
  )
  return async (bytes: Buffer) => {
    const context = await builtin.readContext(bytes)
    const confirmed = await confirming.detectFaces(context, { isWanted })
    const all = await scoring.detectFaces(await builtin.readContext(bytes), { isWanted })
    return all.map(({ box, confidence }) => ({
      box,
      score: scoreThreshold + ((confidence - 0.6) / 0.4) * (1 - scoreThreshold),
      isConfirmed: confirmed.some((other) => iou(other.box, box) > 0.99),
    }))
  }
}
