/**
 * Measures sessions that request an angle for each step, on drawn heads:
 *
 *   node eval/challenge/measure-angles.ts <folder|pairs.csv> [people]
 *
 * A head that follows the guidance of the component moves until its measured angle is the requested
 * one. Attacks that were prepared show one angle for each direction, whatever is requested. Every
 * sequence is judged with and without its angles. The people are of the half that the weights that ship
 * have not seen. The second table compares the frames between two
 * poses, of heads and of cross-faded photographs. The result is always the same.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import { markdownTable } from '../../bench/support/table.ts'
import { openVision } from '../../src/cli/evaluate/open-vision.ts'
import { createProgressBar } from '../../src/cli/command.ts'
import { readFaceSet } from '../../src/evaluation/face-images.ts'
import { similarityOf } from '../../test/support/vision/similarity-of.ts'
import { drawAngles, drawSteps } from '../../src/gallery/liveness/draw-steps.ts'
import { angleRanges, isTurn, type ChallengeStep } from '../../src/lib/liveness/challenge-steps.ts'
import { seededRandom } from '../../src/lib/random/seeded-random.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { readRecognizerCalibration } from '../../src/start/active-models.ts'
import type { FaceResult } from '../../src/vision/image-analysis.ts'
import { judgeFaces } from '../../src/vision/liveness/challenge/compare-frames.ts'
import { measureRelief } from '../../src/vision/liveness/challenge/relief.ts'
import { openDrawing, type SourcePicture } from './draw-person.ts'
import { fade } from './draw-sequences.ts'
import { steps as allSteps, type ViewSource } from './drawn-views.ts'
import { halfOf } from './people-responses.ts'
import {
  analyzeFrame,
  followGuidance,
  movementOf,
  openViews,
  type ViewDrawer,
} from './turned-heads.ts'

const stepCounts = [2, 3, 4]
/** Sequences of each person for each number of steps. */
const followedCount = 3
const preparedCount = 48

/** The angles of a prepared head, degrees: those of `draw-challenge-attacks.ts`, and others. */
const preparedAngles = [
  { turn: 27, look: 27 },
  { turn: 22, look: 18 },
  { turn: 33, look: 24 },
  { turn: 38, look: 30 },
]

/** Degrees: the smallest movement of a frame between two poses. */
const betweenMin = 5

/** What a prepared attack shows for a step: one or more frames; undefined where no face is found. */
type PreparedFrames = (step: ChallengeStep) => readonly (FaceResult | undefined)[]
type Prepared = {
  readonly first: FaceResult | undefined
  /** The second is for a direction that is requested again. */
  readonly views: readonly [PreparedFrames, PreparedFrames]
}

const [set, peopleText = '26'] = process.argv.slice(2)
if (!set) throw new Error('arguments are missing; pass a set')
const people = await findPeople(set, Number(peopleText))
await using vision = await openVision([])
const { analyzeImage } = vision
const calibration = await readRecognizerCalibration(vision.modelSet.recognizer)
/** Why a sequence was refused; empty if it passed. */
type Reasons = readonly string[]
/** Kind and number of steps → the reasons of each sequence, with and without angles. */
const results = new Map<string, { readonly withAngles: Reasons; readonly without: Reasons }[]>()
const between = new Map<string, { readonly noseDepth: number; readonly ratio: number }[]>()
const bar = createProgressBar('people')
for (const [index, picture] of people.entries()) {
  const behind = people[(index + 1) % people.length] ?? picture
  await measurePerson({ ...picture, behind }, index)
  bar.update(index + 1, people.length)
}
bar.end()
printResults()

/**
 * Returns the first frontal picture of each person, up to `count` people, of the half that the weights
 * have not seen.
 */
async function findPeople(source: string, count: number): Promise<SourcePicture[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-challenge-models-'))
  await prepareBuiltinPack({ folder })
  const found = new Map<string, SourcePicture>()
  {
    await using drawing = await openDrawing(folder)
    for (const { file, person } of (await readFaceSet(source)).images) {
      if (found.size === count) break
      if (found.has(person) || halfOf({ person }) === 0) continue
      const picture = await drawing.readFrontal(await readFile(file), person)
      if (picture) found.set(person, picture)
    }
  }
  await rm(folder, { recursive: true })
  return [...found.values()]
}

async function measurePerson(source: ViewSource, seed: number): Promise<void> {
  const random = seededRandom(seed)
  const randomInteger = (limit: number) => Math.floor(random() * limit)
  const head = await openViews('head', source, random)
  const frontal = await head(undefined, 0)
  const first = await analyzeFrame(frontal, undefined, analyzeImage)
  for (const count of stepCounts)
    for (let sequence = 0; sequence < followedCount; sequence++) {
      const steps = drawSteps(count, randomInteger)
      const angles = drawAngles(steps, randomInteger)
      const frames: (FaceResult | undefined)[] = []
      for (const [index, step] of steps.entries()) {
        const angle = angles[index]
        if (!first || !angle) continue
        const frameAt = async (degrees: number) => {
          const frame = await analyzeFrame(await head(step, degrees), first, analyzeImage)
          recordBetween('head', first, { step, frame })
          return frame
        }
        frames.push(await followGuidance({ step, angle }, first, frameAt))
      }
      record('follows the guidance', [first, ...frames], { steps, angles })
    }
  for (const [kind, { first: shown, views }] of await prepareAttacks(source, head, random))
    for (const count of stepCounts)
      for (let sequence = 0; sequence < preparedCount; sequence++) {
        const steps = drawSteps(count, randomInteger)
        const angles = drawAngles(steps, randomInteger)
        const frames = steps.flatMap((step, index) =>
          views[steps.indexOf(step) < index ? 1 : 0](step),
        )
        record(kind, [shown, ...frames], { steps, angles })
      }
}

/** Measurements of the frames in which a head has begun to turn to a side. */
function recordBetween(
  kind: string,
  first: FaceResult | undefined,
  { step, frame }: { readonly step: ChallengeStep; readonly frame: FaceResult | undefined },
): void {
  if (!first?.challenge || !frame?.challenge || !isTurn(step)) return
  const degrees = movementOf(step, first, frame)
  if (degrees < betweenMin || degrees > angleRanges.turn[0].degreesMin) return
  const { noseDepth, residual } = measureRelief(first.challenge, frame.challenge, step)
  const ratio = residual / Math.sin((degrees * Math.PI) / 180)
  between.set(kind, [...(between.get(kind) ?? []), { noseDepth, ratio }])
}

type Requested = {
  readonly steps: readonly ChallengeStep[]
  readonly angles: ReturnType<typeof drawAngles>
}

function record(
  kind: string,
  frames: readonly (FaceResult | undefined)[],
  { steps, angles }: Requested,
): void {
  const faces = frames.filter((face) => face !== undefined)
  const isComplete = faces.length === frames.length
  const compare: Parameters<typeof judgeFaces>[2] = (a, b) => similarityOf(a, b, calibration)
  const judge = (requested?: typeof angles): readonly string[] =>
    isComplete ? judgeFaces(faces, steps, compare, requested).reasons : ['NO_FRAME']
  const result = { withAngles: judge(angles), without: judge() }
  const key = `${kind}, ${steps.length} steps`
  results.set(key, [...(results.get(key) ?? []), result])
}

async function prepareAttacks(
  source: ViewSource,
  head: ViewDrawer,
  random: () => number,
): Promise<(readonly [string, Prepared])[]> {
  const frontal = await head(undefined, 0)
  const photograph = await (await openViews('flat 30', source, random))(undefined, 0)
  const swapped = await openViews('swapped head', source, random)
  const prepared: (readonly [string, Prepared])[] = []
  for (const angles of preparedAngles)
    prepared.push([
      `head rendered by ${angles.turn}° and ${angles.look}°`,
      await prepare(frontal, async (step) => [
        await head(step, isTurn(step) ? angles.turn : angles.look),
      ]),
    ])
  const swappedFrames = await prepare(photograph, async (step) => [await swapped(step, 27)])
  const turned = await head('turnLeft', 27)
  const mirrored = await sharp(turned).flop().jpeg({ quality: 90 }).toBuffer()
  const fades = await prepare(frontal, async (step) => {
    const target = step === 'turnRight' ? mirrored : turned
    return [await fade(frontal, target, 0.5), await fade(frontal, target, 0.8 + 0.2 * random())]
  })
  for (const step of ['turnLeft', 'turnRight'] as const)
    recordBetween('cross-faded', fades.first, { step, frame: fades.views[0](step)[0] })
  return [
    ...prepared,
    ['face swapped when turned, by 27°', swappedFrames],
    ['two photographs cross-faded', fades],
  ]
}

async function prepare(
  frontal: Buffer,
  draw: (step: ChallengeStep) => Promise<readonly Buffer[]>,
): Promise<Prepared> {
  const first = await analyzeFrame(frontal, undefined, analyzeImage)
  const drawAll = async (): Promise<PreparedFrames> => {
    const drawn = new Map<ChallengeStep, readonly (FaceResult | undefined)[]>()
    for (const step of allSteps) {
      const frames: (FaceResult | undefined)[] = []
      for (const jpeg of await draw(step))
        frames.push(await analyzeFrame(jpeg, first, analyzeImage))
      drawn.set(step, frames)
    }
    return (step) => drawn.get(step) ?? []
  }
  return { first, views: [await drawAll(), await drawAll()] }
}

function printResults(): void {
  const share = (sequences: readonly Reasons[]): string => {
    const count = sequences.filter(({ length }) => length === 0).length
    const reasons = Map.groupBy(sequences.flat(), (reason) => reason)
    const counts = [...reasons].map(([reason, { length }]) => `, ${reason} ${length}`)
    return `${count} (${((100 * count) / sequences.length).toFixed(1)} %)${counts.join('')}`
  }
  const rows = [...results]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, judged]) => [
      key,
      `${judged.length}`,
      share(judged.map(({ without }) => without)),
      share(judged.map(({ withAngles }) => withAngles)),
    ])
  console.log(markdownTable(['', 'sequences', 'any angle', 'requested angles'], rows))
  const quartiles = (values: readonly number[]): string => {
    const sorted = values.toSorted((a, b) => a - b)
    const at = (part: number) => sorted[Math.floor(part * sorted.length)]?.toFixed(2)
    return [0.25, 0.5, 0.75].map(at).join(' / ')
  }
  const betweenRows = [...between].map(([kind, all]) => [
    kind,
    `${all.length}`,
    quartiles(all.map(({ noseDepth }) => noseDepth)),
    quartiles(all.map(({ ratio }) => ratio)),
  ])
  console.log(
    markdownTable(['between poses', 'frames', 'noseDepth', 'residual / sin'], betweenRows),
  )
}
