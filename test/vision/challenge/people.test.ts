import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { findCentralFace, readFaceSet } from '../../../src/evaluation/face-images.ts'
import type {
  ChallengeFacts,
  ChallengeJudgement,
} from '../../../src/vision/liveness/challenge/challenge-judgement.ts'
import { judgeChallenge } from '../../../src/vision/liveness/challenge/judge-challenge.ts'
import { shownSteps } from '../../../src/vision/liveness/challenge/judge-steps.ts'
import { evalDataFolder } from '../../support/paths.ts'
import { openTestPipeline } from '../../support/vision/test-pipeline.ts'

const pairsFile = path.join(evalDataFolder, 'verification/pairs.csv')
/** People with this number of pictures have several poses: about 100 pictures in all. */
const picturesMin = 8

const skip = existsSync(pairsFile) ? false : `${pairsFile} is not available`

test('Real people pass the steps that their pictures show', { skip }, async () => {
  const { images } = await readFaceSet(pairsFile)
  const people = [...Map.groupBy(images, ({ person }) => person).values()]
  const judgements: ChallengeJudgement[] = []
  const pipeline = await openTestPipeline()
  for (const pictures of people.filter(({ length }) => length >= picturesMin)) {
    const faces: ChallengeFacts[] = []
    for (const { file } of pictures) {
      const analysis = await pipeline.analyze(await readFile(file), { challenge: true })
      const facts = findCentralFace(analysis)?.challenge
      if (facts) faces.push(facts)
    }
    judgements.push(...faces.filter(isFrontal).flatMap((first) => judgeSteps(first, faces)))
  }
  await pipeline.close()
  assert.ok(judgements.length >= 100, `${judgements.length} pairs show a step`)
  const passed = judgements.filter((judgement) => judgement.passed)
  const share = passed.length / judgements.length
  assert.ok(share >= 0.97, `${passed.length} of ${judgements.length} passed`)
})

function isFrontal({ yaw, pitch }: ChallengeFacts): boolean {
  return Math.abs(yaw) <= 12 && Math.abs(pitch) <= 15
}

/** Judges every other picture as the response to the step that it shows. */
function judgeSteps(first: ChallengeFacts, faces: readonly ChallengeFacts[]): ChallengeJudgement[] {
  const others = faces.filter((facts) => facts !== first)
  return shownSteps(first, others).flatMap((step, index) => {
    const facts = others[index]
    if (step === undefined || !facts) return []
    return [
      judgeChallenge(
        [first, facts].map((each) => ({
          facts: each,
          similarityToFirst: 1,
          similarityToPrevious: 1,
        })),
        [step],
      ),
    ]
  })
}
