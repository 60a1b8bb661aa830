/**
 * Measures how often pairs of one person miss, by the quality and the occlusion of the poorer picture:
 *
 *   node eval/detection/measure-quality-misses.ts <folder|pairs.csv>
 *
 * A pair misses if its distance is above that of one in 10,000 pairs of different people. The density is
 * not used: the shipped cohort has learnt from the people of the development set.
 */
import { markdownTable } from '../../bench/support/table.ts'
import { createProgressBar } from '../../src/cli/command.ts'
import { openVision } from '../../src/cli/evaluate/open-vision.ts'
import {
  analyzeCentralFace,
  readFaceSet,
  templatesRequest,
} from '../../src/evaluation/face-images.ts'
import { mapConcurrent } from '../../src/evaluation/map-concurrent.ts'
import { scoreAllPairs, scorers } from '../../src/evaluation/verification/pair-scores.ts'
import { scoreAtFar } from '../../src/gallery/calibration/measure/sorted-scores.ts'

const [source] = process.argv.slice(2)
if (!source) throw new Error('no set was given; pass a folder or a pairs.csv')
const { images } = await readFaceSet(source)
await using vision = await openVision([])
const bar = createProgressBar('images')
const analyzed = await mapConcurrent(
  images,
  async ({ file, person }) => {
    const face = await analyzeCentralFace(file, (image) =>
      vision.analyzeImage(image, templatesRequest),
    )
    if ('unusable' in face || !face.template || person === undefined) return []
    const { template, qualityScore: score, quality } = face
    return [{ person, template, score, occlusion: quality.components.occlusion }]
  },
  bar.update,
)
bar.end()
const faces = analyzed.flat()
const pairs: { readonly score: number; readonly quality: number; readonly occlusion: number }[] = []
const { impostor } = scoreAllPairs(faces, scorers.raw, {
  onPair: (a, b, score) => {
    const [first, second] = [faces[a], faces[b]]
    if (!first || !second || first.person !== second.person) return
    const quality = Math.min(first.score, second.score)
    pairs.push({ score, quality, occlusion: Math.min(first.occlusion, second.occlusion) })
  },
})
const limit = scoreAtFar(impostor, 1e-4)
const bands = [
  ['occlusion below 50', pairs.filter(({ occlusion }) => occlusion < 50)],
  ['occlusion from 50 on', pairs.filter(({ occlusion }) => occlusion >= 50)],
  ...[0, 60, 70, 75, 80, 90].map((from, index, all) => {
    const to = all[index + 1] ?? 101
    const inBand = pairs.filter(({ quality }) => quality >= from && quality < to)
    return [`quality ${from} to ${to - 1}`, inBand] as const
  }),
] as const
const rows = bands.map(([name, band]) => {
  const missed = band.filter(({ score }) => score < limit).length
  return [name, String(band.length), `${((100 * missed) / band.length).toFixed(1)} %`]
})
console.log(markdownTable(['poorer picture', 'pairs of one person', 'missed at 1e-4'], rows))
