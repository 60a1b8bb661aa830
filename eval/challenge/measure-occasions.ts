/**
 * Estimates how many people pass a step by pictures of one occasion:
 *
 *   node eval/challenge/measure-occasions.ts <folder|pairs.csv>
 *
 * As `measure-people.ts`, with the pictures that were probably taken at the same occasion as the first
 * frame. The criterion is the surroundings of the face and not the face, whose similarity is judged:
 * the colours of the clothing below the face, and those of the background at both sides. Its limits
 * are those that a given share of the pairs of different people exceeds. Two pictures of one person on
 * different days resemble each other more than those of different people, so check the listed pairs.
 */
import sharp from 'sharp'
import { markdownTable } from '../../bench/support/table.ts'
import { openVision } from '../../src/cli/evaluate/open-vision.ts'
import { readFaceSet } from '../../src/evaluation/face-images.ts'
import type { Calibration } from '../../src/gallery/calibration/similarity.ts'
import { similarityOf } from '../../test/support/vision/similarity-of.ts'
import { readRecognizerCalibration } from '../../src/start/active-models.ts'
import type { BoundingBox } from '../../src/vision/image/geometry.ts'
import { challengeLimits } from '../../src/vision/liveness/challenge/challenge-limits.ts'
import { compareFrames } from '../../src/vision/liveness/challenge/compare-frames.ts'
import { judgeChallenge } from '../../src/vision/liveness/challenge/judge-challenge.ts'
import {
  analyzePictures,
  findResponses,
  isFrontal,
  type ChallengeResponse,
  type PersonPicture,
} from './people-responses.ts'

/** The shares of pairs of different people with more similar surroundings. */
const falseRates = [0.05, 0.01, 0.001]
/** Side of the picture in which colours are counted, px. */
const side = 125
/** Of each of three axes: luma, red against green, blue against yellow. */
const binCount = 8
/** Alignment fills the corners of a picture with black; the sum of three channels. */
const fillMax = 12
/** A smaller region is not compared. */
const regionPxMin = 40

/** Shares of the colours in two regions, each with the sum 1. */
type FaceSurroundings = { readonly clothing: Float64Array; readonly background: Float64Array }

type PicturePair = {
  readonly a: PersonPicture
  readonly b: PersonPicture
  readonly similarity: number
}

const [source] = process.argv.slice(2)
if (!source) throw new Error('no set was given; pass a folder or a pairs.csv')
const { images } = await readFaceSet(source)
const several = [...Map.groupBy(images, ({ person }) => person)].filter(([, all]) => all.length > 1)
await using vision = await openVision([])
const calibration = await readRecognizerCalibration(vision.modelSet.recognizer)
const people = new Set(several.map(([person]) => person))
const pictures = await analyzePictures(source, vision, people)
const surroundings = new Map<PersonPicture, FaceSurroundings>()
for (const picture of pictures) {
  const found = await readSurroundings(picture)
  if (found) surroundings.set(picture, found)
}
const { same, different } = comparePairs()
for (const rate of falseRates) printResponses(rate, calibration)

/** Counts the colours beside and below the face. */
async function readSurroundings({
  file,
  first,
}: PersonPicture): Promise<FaceSurroundings | undefined> {
  const { width } = await sharp(file).metadata()
  const resized = sharp(file).removeAlpha().resize(side, side, { fit: 'fill' })
  const pixels = await resized.raw().toBuffer()
  const clothing: Colour[] = []
  const background: Colour[] = []
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) {
      const [red = 0, green = 0, blue = 0] = pixels.subarray((y * side + x) * 3)
      if (red + green + blue < fillMax) continue
      const place = placeOf({ x: (x * width) / side, y: (y * width) / side }, first.boundingBox)
      if (place === 'clothing') clothing.push([red, green, blue])
      if (place === 'background') background.push([red, green, blue])
    }
  if (Math.min(clothing.length, background.length) < regionPxMin) return undefined
  return { clothing: countColours(clothing), background: countColours(background) }
}

type Colour = readonly [red: number, green: number, blue: number]

/** The region of a point, in widths and heights of the face from its centre. */
function placeOf(
  point: { readonly x: number; readonly y: number },
  { left, top, width, height }: BoundingBox,
): keyof FaceSurroundings | undefined {
  const aside = Math.abs(point.x - left - width / 2) / width
  const below = (point.y - top - height / 2) / height
  if (below > 0.85 && aside < 1) return 'clothing'
  return below < 0.3 && aside > 0.9 ? 'background' : undefined
}

/** Each colour counts for its eight neighbouring bins, by its distance from them. */
function countColours(colours: readonly Colour[]): Float64Array {
  const counts = new Float64Array(binCount ** 3)
  for (const [red, green, blue] of colours) {
    const axes = [
      ((red + green + blue) / 3 / 256) * binCount,
      (((red - green) / 128) * binCount) / 2 + binCount / 2,
      (((blue - (red + green) / 2) / 128) * binCount) / 2 + binCount / 2,
    ].map((value) => Math.min(binCount - 1.001, Math.max(0, value - 0.5)))
    for (let corner = 0; corner < 8; corner++) {
      let [index, weight] = [0, 1 / colours.length]
      for (const [axis, value] of axes.entries()) {
        const isUpper = (corner >> axis) % 2
        const part = value - Math.floor(value)
        weight *= isUpper ? part : 1 - part
        index = index * binCount + Math.floor(value) + isUpper
      }
      counts[index] = (counts[index] ?? 0) + weight
    }
  }
  return counts
}

function comparePairs(): { readonly same: PicturePair[]; readonly different: number[] } {
  const pairs: { readonly same: PicturePair[]; readonly different: number[] } = {
    same: [],
    different: [],
  }
  const all = [...surroundings]
  for (const [index, [a, ofA]] of all.entries())
    for (const [b, ofB] of all.slice(index + 1)) {
      const shared = sharedColours(ofA.clothing, ofB.clothing)
      const similarity = Math.sqrt(shared * sharedColours(ofA.background, ofB.background))
      if (a.person === b.person) pairs.same.push({ a, b, similarity })
      else pairs.different.push(similarity)
    }
  pairs.different.sort((a, b) => b - a)
  return pairs
}

function sharedColours(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, index) => sum + Math.min(value, b[index] ?? 0), 0)
}

function printResponses(falseRate: number, calibrated: Calibration): void {
  const limit = different[Math.floor(falseRate * different.length)] ?? 1
  const pairs = same.filter(({ similarity }) => similarity > limit)
  const responses = pictures.flatMap((first) => {
    const ofFirst = pairs.flatMap(({ a, b }) => (a === first ? [b] : b === first ? [a] : []))
    const found = findResponses([first, ...ofFirst], calibrated)
    return found.filter(({ frames }) => frames[0]?.facts === first.first.challenge)
  })
  console.log(
    `\n${pairs.length} of ${same.length} pairs of one person are above ${limit.toFixed(3)}, ${100 * falseRate} % of ${different.length} pairs of different people:`,
  )
  for (const { a, b } of pairs) console.log(`  ${a.file} ${b.file}`)
  const header = ['responses', 'people', 'count', 'passed', '95 % interval', 'except similarity']
  const kinds = [...Map.groupBy(responses, ({ kind }) => kind)]
  console.log(markdownTable(header, [...kinds.map(toRow), similarRow(pairs, calibrated)]))
}

/** The row of the pairs of any pose with a frontal picture: those that reach the similarity. */
function similarRow(pairs: readonly PicturePair[], calibrated: Calibration): string[] {
  const ordered = pairs.flatMap(({ a, b }) => [[a, b] as const, [b, a] as const])
  const fromFrontal = ordered.filter(([first]) => isFrontal(first))
  const similar = fromFrontal.filter(([first, { later }]) => {
    const frames = compareFrames([first.first, later], (a, b) => similarityOf(a, b, calibrated))
    return (frames[1]?.similarityToFirst ?? 0) >= challengeLimits.similarityMin
  })
  const persons = new Set(fromFrontal.map(([{ person }]) => person)).size
  const cells = countCells(similar.length, fromFrontal.length)
  return ['any pose, similarity only', `${persons}`, ...cells, '']
}

function toRow([kind, responses]: readonly [string, readonly ChallengeResponse[]]): string[] {
  const judgements = responses.map(({ frames, steps }) => judgeChallenge(frames, steps))
  const count = judgements.length
  const passed = judgements.filter((judgement) => judgement.passed).length
  const exceptSimilarity = judgements.filter(({ reasons }) =>
    reasons.every((reason) => reason === 'DIFFERENT_PERSON'),
  ).length
  const persons = new Set(responses.map(({ person }) => person)).size
  return [kind, `${persons}`, ...countCells(passed, count), `${exceptSimilarity}`]
}

function countCells(passed: number, count: number): string[] {
  const interval = wilsonInterval(passed, count).map((share) => `${(100 * share).toFixed(1)} %`)
  return [`${count}`, `${passed}`, interval.join(' to ')]
}

/** Returns the 95 % score interval of a share, for responses that are independent. */
function wilsonInterval(passed: number, count: number): readonly [number, number] {
  const z2 = 1.96 ** 2
  const share = passed / count
  const centre = share + z2 / (2 * count)
  const spread = 1.96 * Math.sqrt((share * (1 - share)) / count + z2 / (4 * count ** 2))
  return [(centre - spread) / (1 + z2 / count), (centre + spread) / (1 + z2 / count)]
}
