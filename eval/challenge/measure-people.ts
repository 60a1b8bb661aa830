/**
 * Measures how many real people pass the steps of a challenge that their pictures show:
 *
 *   node eval/challenge/measure-people.ts <folder|pairs.csv>
 *
 * Each frontal picture of a person is a first frame. Every other picture of the person whose pose
 * differs by a step is a response to that step, and every two that show different steps are a response
 * to both. The pictures are of different days, so similarity, expression and glasses differ more than in
 * frames of one recording. Prints how many passed, and the reasons of the others.
 */
import { markdownTable } from '../../bench/support/table.ts'
import { createProgressBar } from '../../src/cli/progress-bar.ts'
import { openVision } from '../../src/cli/evaluate/open-vision.ts'
import { readFaceSet } from '../../src/evaluation/face-set.ts'
import { findCentralFace } from '../../src/evaluation/find-central-face.ts'
import { mapConcurrent } from '../../src/evaluation/map-concurrent.ts'
import { readImage } from '../../src/evaluation/read-image.ts'
import { similarityOf } from '../../src/gallery/calibration/similarity.ts'
import { readRecognizerCalibration } from '../../src/start/active-models.ts'
import { challengeLimits } from '../../src/vision/liveness/challenge/challenge-limits.ts'
import type {
  ChallengeFacts,
  ChallengeFrame,
  ChallengeJudgement,
  ChallengeStep,
} from '../../src/vision/liveness/challenge/challenge.ts'
import { judgeChallenge } from '../../src/vision/liveness/challenge/judge-challenge.ts'
import { isTurn, shownSteps } from '../../src/vision/liveness/challenge/judge-steps.ts'
import type { Template } from '../../src/vision/embed/template.ts'

type PersonPicture = {
  readonly person: string
  readonly facts: ChallengeFacts
  readonly full: Template
  readonly fast: Template
}

const request = { minFaceConfidence: 0.6, minFaceSizePx: 20, maxFaces: 20, crops: false }

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

/** Analyzes the pictures of people with more than one. */
async function analyzePictures(set: string): Promise<PersonPicture[]> {
  const people = Map.groupBy((await readFaceSet(set)).images, ({ person }) => person)
  const images = [...people.values()].filter(({ length }) => length > 1).flat()
  const bar = createProgressBar('images')
  const analyzed = await mapConcurrent(
    images,
    async ({ file, person }): Promise<PersonPicture[]> => {
      const image = await readImage(file)
      const options = { ...request, challenge: true }
      const analyze = async (templates: true | 'fast') =>
        findCentralFace(await vision.analyzeImage(image, { ...options, templates }))
      const full = await analyze(true)
      const fast = await analyze('fast')
      if (!full?.challenge || !full.template || !fast?.template) return []
      return [{ person, facts: full.challenge, full: full.template, fast: fast.template }]
    },
    bar.update,
  )
  bar.end()
  return analyzed.flat()
}

function isFrontal({ facts: { yaw, pitch } }: PersonPicture): boolean {
  const { firstYawMax, firstPitchMax } = challengeLimits
  return Math.abs(yaw) <= firstYawMax && Math.abs(pitch) <= firstPitchMax
}

function judgePerson(person: string, first: PersonPicture, all: readonly PersonPicture[]): void {
  const others = all.filter((picture) => picture !== first)
  const steps = shownSteps(
    first.facts,
    others.map(({ facts }) => facts),
  )
  const responses = others.flatMap((picture, index) => {
    const step = steps[index]
    return step ? [{ step, frame: toFrame(first, picture) }] : []
  })
  const firstFrame = { facts: first.facts, similarityToFirst: 1 }
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

function toFrame(first: PersonPicture, picture: PersonPicture): ChallengeFrame {
  const similarityToFirst = similarityOf(first.full, picture.fast, calibration)
  return { facts: picture.facts, similarityToFirst }
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
