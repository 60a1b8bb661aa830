/**
 * Measures how many real people pass the steps of a challenge that their pictures show:
 *
 *   node eval/challenge/measure-people.ts <folder|pairs.csv>
 *
 * Each frontal picture of a person is a first frame. Every other picture of the person whose pose
 * differs by a step is a response to that step, and every two or three that show different steps one
 * after another are a response to these. The pictures are of different days, so similarity, expression
 * and glasses differ more than in frames of one recording. Prints how many passed, also of those whose
 * angles a session requests, and the reasons of the others, then how many pairs of pictures the quick
 * comparison accepts: each picture as a first frame with each other one.
 */
import { markdownTable } from '../../bench/support/table.ts'
import { openVision } from '../../src/cli/evaluate/open-vision.ts'
import { similarityOf } from '../../test/support/vision/similarity-of.ts'
import { angleRanges, isTurn } from '../../src/lib/liveness/challenge-steps.ts'
import { readRecognizerCalibration } from '../../src/start/active-models.ts'
import { challengeLimits } from '../../src/vision/liveness/challenge/challenge-limits.ts'
import type { ChallengeJudgement } from '../../src/vision/liveness/challenge/challenge-judgement.ts'
import { judgeChallenge } from '../../src/vision/liveness/challenge/judge-challenge.ts'
import { certainSimilarity } from '../../src/vision/embed/quick-match.ts'
import type { FaceResult } from '../../src/vision/image-analysis.ts'
import { analyzePictures, findResponses, isFrontal } from './people-responses.ts'

const [source] = process.argv.slice(2)
if (!source) throw new Error('no set was given; pass a folder or a pairs.csv')
await using vision = await openVision([])
const calibration = await readRecognizerCalibration(vision.modelSet.recognizer)
const pictures = await analyzePictures(source, vision)
const responses = Map.groupBy(findResponses(pictures, calibration), ({ kind }) => kind)
console.log(
  markdownTable(
    [
      'responses',
      'people',
      'count',
      'passed',
      'without the similarity',
      'within the angles',
      'of these passed',
      'reasons',
    ],
    [...responses].map(([kind, ofKind]) => {
      const judgements = ofKind.map(({ frames, steps }) => judgeChallenge(frames, steps))
      const withinAngles = judgements.filter(isWithinAngles)
      return [
        kind,
        `${new Set(ofKind.map(({ person }) => person)).size}`,
        `${judgements.length}`,
        percent(judgements, ({ passed }) => passed),
        percent(judgements, ({ reasons }) => reasons.every((each) => each === 'DIFFERENT_PERSON')),
        `${withinAngles.length}`,
        percent(withinAngles, ({ passed }) => passed),
        reasonCounts(judgements),
      ]
    }),
  ),
)
printQuickComparison()

function quickSimilarityOf(first: FaceResult, later: FaceResult): number | undefined {
  const { quickTemplate } = first
  if (!quickTemplate || !later.quickTemplate) throw new Error('the model has no quick templates')
  return certainSimilarity(quickTemplate, later.quickTemplate)
}

function similarityOfFaces(a: FaceResult, b: FaceResult): number {
  if (!a.template || !b.template) throw new Error('the analysis contains no template')
  return similarityOf(a.template, b.template, calibration)
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
      const isFull = similarityOfFaces(a.first, b.later) >= challengeLimits.similarityMin
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

/** Whether a session with angles can request each movement. */
function isWithinAngles({ steps }: ChallengeJudgement): boolean {
  return steps.every(({ step, yaw, pitch }) => {
    const degrees = isTurn(step) ? yaw : pitch
    const { degreesMax = 0 } = angleRanges[isTurn(step) ? 'turn' : 'look'].at(-1) ?? {}
    return degrees !== null && Math.abs(degrees) <= degreesMax
  })
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
