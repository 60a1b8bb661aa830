/**
 * Measures how many real people pass the steps of a challenge that their pictures show:
 *
 *   node eval/challenge/measure-people.ts <folder|pairs.csv>
 *
 * Each frontal picture of a person is a first frame. Every other picture of the person whose pose
 * differs by a step is a response to that step, and every two that show different steps are a response
 * to both. The pictures are of different days, so similarity, expression and glasses differ more than in
 * frames of one recording. Prints how many passed, and the reasons of the others, then how many pairs
 * of pictures the quick comparison accepts: each picture as a first frame with each other one.
 */
import { markdownTable } from '../../bench/support/table.ts'
import { createProgressBar } from '../../src/cli/progress-bar.ts'
import { openVision } from '../../src/cli/evaluate/open-vision.ts'
import { readFaceSet } from '../../src/evaluation/face-set.ts'
import { findCentralFace } from '../../src/evaluation/find-central-face.ts'
import { mapConcurrent } from '../../src/evaluation/map-concurrent.ts'
import { toChallengeFrame } from '../../src/evaluation/challenge/challenge-frame.ts'
import { readImage } from '../../src/evaluation/read-image.ts'
import { readRecognizerCalibration } from '../../src/start/active-models.ts'
import { challengeLimits } from '../../src/vision/liveness/challenge/challenge-limits.ts'
import type {
  ChallengeFrame,
  ChallengeJudgement,
  ChallengeStep,
} from '../../src/vision/liveness/challenge/challenge-judgement.ts'
import { challengeFrameRequest } from '../../src/vision/liveness/challenge/frame-request.ts'
import { judgeChallenge } from '../../src/vision/liveness/challenge/judge-challenge.ts'
import { isTurn, shownSteps } from '../../src/vision/liveness/challenge/judge-steps.ts'
import { certainSimilarity } from '../../src/vision/embed/quick-match.ts'
import type { FaceResult } from '../../src/vision/image-analysis.ts'

type PersonPicture = {
  readonly person: string
  /** As the first frame of a response. */
  readonly first: FaceResult
  /** As another frame, with a template in any case. */
  readonly later: FaceResult
}

const sizes = { minFaceConfidence: 0.6, minFaceSizePx: 20, maxFaces: 20 }
const firstRequest = { ...sizes, ...challengeFrameRequest() }
const laterRequest = { ...firstRequest, templates: 'fast' } as const

const [source] = process.argv.slice(2)
if (!source) throw new Error('no set was given; pass a folder or a pairs.csv')
await using vision = await openVision([])
const calibration = await readRecognizerCalibration(vision.modelSet.recognizer)
const pictures = await analyzePictures(source)
const rows = new Map<string, { people: Set<string>; judgements: ChallengeJudgement[] }>()
for (const [person, ofPerson] of Map.groupBy(pictures, (picture) => picture.person))
  for (const first of ofPerson.filter(isFrontal)) judgePerson(person, first, ofPerson)
console.log(
  markdownTable(
    ['responses', 'people', 'count', 'passed', 'without the similarity', 'reasons'],
    [...rows].map(([name, { people, judgements }]) => [
      name,
      `${people.size}`,
      `${judgements.length}`,
      percent(judgements, ({ passed }) => passed),
      percent(judgements, ({ reasons }) => reasons.every((each) => each === 'DIFFERENT_PERSON')),
      reasonCounts(judgements),
    ]),
  ),
)
printQuickComparison()

async function analyzePictures(set: string): Promise<PersonPicture[]> {
  const { images } = await readFaceSet(set)
  const bar = createProgressBar('images')
  const analyzed = await mapConcurrent(
    images,
    async ({ file, person }): Promise<PersonPicture[]> => {
      const image = await readImage(file)
      const first = findCentralFace(await vision.analyzeImage(image, firstRequest))
      const later = findCentralFace(await vision.analyzeImage(image, laterRequest))
      return first && later ? [{ person, first, later }] : []
    },
    bar.update,
  )
  bar.end()
  return analyzed.flat()
}

function isFrontal({ first: { challenge } }: PersonPicture): boolean {
  const { firstYawMax, firstPitchMax } = challengeLimits
  if (!challenge) return false
  return Math.abs(challenge.yaw) <= firstYawMax && Math.abs(challenge.pitch) <= firstPitchMax
}

function judgePerson(person: string, first: PersonPicture, all: readonly PersonPicture[]): void {
  const others = all.filter((picture) => picture !== first)
  const firstFrame = toChallengeFrame(first.first, first.first, calibration)
  const frames = others.map((picture) => toFrame(first, picture))
  const steps = shownSteps(
    firstFrame.facts,
    frames.map(({ facts }) => facts),
  )
  const responses = frames.flatMap((frame, index) => {
    const step = steps[index]
    return step ? [{ step, frame }] : []
  })
  for (const a of responses) {
    const name = isTurn(a.step) ? 'a turn to a side' : 'a look up or down'
    addRow(name, person, judgeChallenge([firstFrame, a.frame], [a.step]))
    for (const b of responses.filter(({ step }) => step !== a.step))
      addRow('two steps', person, judgeTwo(firstFrame, a, b))
  }
}

type StepFrame = { readonly step: ChallengeStep; readonly frame: ChallengeFrame }

function judgeTwo(first: ChallengeFrame, a: StepFrame, b: StepFrame): ChallengeJudgement {
  return judgeChallenge([first, a.frame, b.frame], [a.step, b.step])
}

/** Returns the frame as the service analyzes it: without a template after a quick match. */
function toFrame({ first }: PersonPicture, picture: PersonPicture): ChallengeFrame {
  const quickSimilarity = quickSimilarityOf(first, picture.later)
  const face =
    quickSimilarity === undefined
      ? picture.later
      : { ...picture.later, certainSimilarity: quickSimilarity }
  return toChallengeFrame(face, first, calibration)
}

function quickSimilarityOf(first: FaceResult, later: FaceResult): number | undefined {
  const { quickTemplate } = first
  if (!quickTemplate || !later.quickTemplate) throw new Error('the model has no quick templates')
  return certainSimilarity(quickTemplate, later.quickTemplate)
}

/** Prints the shares of pairs that are accepted by the quick comparison, the full one, and either. */
function printQuickComparison(): void {
  const same = { pairs: 0, quick: 0, full: 0, either: 0 }
  const different = { ...same }
  for (const a of pictures.filter(isFrontal))
    for (const b of pictures) {
      if (a === b) continue
      const count = a.person === b.person ? same : different
      const isQuick = quickSimilarityOf(a.first, b.later) !== undefined
      const { similarityToFirst } = toChallengeFrame(b.later, a.first, calibration)
      const isFull = similarityToFirst >= challengeLimits.similarityMin
      count.pairs += 1
      count.quick += Number(isQuick)
      count.full += Number(isFull)
      count.either += Number(isQuick || isFull)
    }
  const cells = ({ pairs, quick, full, either }: typeof different) => [
    `${pairs}`,
    ...[quick, full, either].map((count) => `${((100 * count) / pairs).toFixed(4)} % (${count})`),
  ]
  const header = ['pairs of', 'count', 'quick match', 'full match', 'either']
  const table = [
    ['one person', ...cells(same)],
    ['different people', ...cells(different)],
  ]
  console.log(`\n${markdownTable(header, table)}`)
}

function addRow(name: string, person: string, judgement: ChallengeJudgement): void {
  const row = rows.get(name) ?? { people: new Set(), judgements: [] }
  row.people.add(person)
  row.judgements.push(judgement)
  rows.set(name, row)
}

function percent(
  judgements: readonly ChallengeJudgement[],
  isCounted: (judgement: ChallengeJudgement) => boolean,
): string {
  return `${((100 * judgements.filter(isCounted).length) / judgements.length).toFixed(1)} %`
}

function reasonCounts(judgements: readonly ChallengeJudgement[]): string {
  const counts = Map.groupBy(
    judgements.filter(({ passed }) => !passed),
    ({ reasons }) => reasons.join(' + '),
  )
  return [...counts].map(([reasons, { length }]) => `${reasons} ${length}`).join(', ')
}
