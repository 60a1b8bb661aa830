import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { rotationOf } from '../../../eval/challenge/render-surface.ts'
import { challengeLimits } from '../../../src/vision/liveness/challenge/challenge-limits.ts'
import type {
  ChallengeFacts,
  ChallengeFrame,
} from '../../../src/vision/liveness/challenge/challenge-judgement.ts'
import { judgeChallenge } from '../../../src/vision/liveness/challenge/judge-challenge.ts'
import { measureChallenge } from '../../../src/vision/liveness/challenge/challenge-points.ts'
import { measureRelief, solidEvidence } from '../../../src/vision/liveness/challenge/relief.ts'
import {
  judgeFaces,
  ofSamePerson,
  openTurnedFaces,
  views,
} from '../../support/vision/turned-faces.ts'
import { fingerprint } from '../../support/vision/turned-mesh.ts'
import type { ChallengeStep } from '../../../src/lib/liveness/challenge-steps.ts'

const allSteps = Object.keys(views) as ChallengeStep[]

let faces: Awaited<ReturnType<typeof openTurnedFaces>>
before(async () => {
  faces = await openTurnedFaces()
})

const turned = (...view: Parameters<typeof faces.turned>) => faces.turned(...view)
const front = (depth = 1) => faces.front(depth)

test('A turned head passes each step, and the same turn of its picture is a flat face', () => {
  for (const step of allSteps) {
    const head = judgeFaces([step], front(), turned(views[step]))
    assert.deepEqual([head.passed, head.flat, head.reasons], [true, false, []], step)
    const [shown] = head.steps
    assert.equal(shown?.imageIndex, 1)
    assert.equal(shown?.yaw, views[step].yaw)
    assert.equal(shown?.pitch, views[step].pitch)
    const picture = judgeFaces([step], front(0), turned(views[step], 0))
    assert.deepEqual([picture.flat, picture.reasons], [true, ['FLAT_FACE']], step)
  }
})

test('Left and right are those of the person: turned left, the nose is at the right of the image', () => {
  const noseIndex = 1
  const noseX = (yaw: number): number =>
    rotationOf({ yaw, pitch: 0, roll: 0 })(faces.mesh.points[noseIndex] ?? { x: 0, y: 0, z: 0 }).x
  assert.ok(noseX(views.turnLeft.yaw) > noseX(0), 'the nose moves to the right of the image')
  const pose = measureChallenge({
    ...faces.mesh,
    points: faces.mesh.points.map(rotationOf({ yaw: 28, pitch: 0, roll: 0 })),
  })
  assert.ok(pose.yaw > measureChallenge(faces.mesh).yaw + 20, `yaw ${pose.yaw}`)
})

test('A step is reached from its limit on, and each direction has its own', () => {
  const { turn, look } = challengeLimits
  const edges = {
    turnLeft: { yaw: turn.changeMin },
    turnRight: { yaw: -turn.changeMin },
    lookUp: { pitch: look.changeMin },
    lookDown: { pitch: -look.changeMin },
  }
  for (const step of allSteps) {
    const atLimit = { ...turned(views[step]), yaw: 0, pitch: 0, ...edges[step] }
    assert.equal(judgeFaces([step], front(), atLimit).steps[0]?.passed, true, step)
    const below = { ...atLimit, yaw: atLimit.yaw * 0.999, pitch: atLimit.pitch * 0.999 }
    const judgement = judgeFaces([step], front(), below)
    assert.deepEqual(judgement.reasons, ['CHALLENGE_NOT_FOLLOWED'], step)
    const [missed] = judgement.steps
    assert.deepEqual(missed, { step, passed: false, imageIndex: null, yaw: null, pitch: null })
  }
})

test('Steps count in the requested order, without others in between, before or after them', () => {
  const { turnLeft, lookUp, turnRight, lookDown } = Object.fromEntries(
    allSteps.map((step) => [step, turned(views[step])]),
  ) as Record<ChallengeStep, ChallengeFacts>
  const steps = ['turnLeft', 'lookUp'] as const
  const nearlyFront = { ...front(), yaw: 6, pitch: -5, fingerprint: fingerprint(90) }
  const passing = judgeFaces(steps, front(), turnLeft, nearlyFront, lookUp)
  assert.deepEqual(
    passing.steps.map(({ imageIndex }) => imageIndex),
    [1, 3],
  )
  assert.equal(passing.passed, true)
  const further = { ...turned({ yaw: 33, pitch: 0 }) }
  const [twoFrames] = judgeFaces(steps, front(), turnLeft, further, lookUp).steps
  assert.equal(twoFrames?.imageIndex, 2, 'the frame in which the head is turned furthest')

  for (const [name, frames, passed] of [
    ['reversed', [lookUp, turnLeft], [false, false]],
    ['one before', [turnRight, turnLeft, lookUp], [false, false]],
    ['one between', [turnLeft, turnRight, lookUp], [true, false]],
    ['one after', [turnLeft, lookUp, lookDown], [true, true]],
    [
      'the second before the first',
      [lookUp, turnLeft, { ...lookUp, fingerprint: fingerprint(91) }],
      [false, false],
    ],
  ] as const) {
    const judgement = judgeFaces(steps, front(), ...frames)
    assert.deepEqual(judgement.reasons, ['CHALLENGE_NOT_FOLLOWED'], name)
    assert.deepEqual(
      judgement.steps.map((step) => step.passed),
      passed,
      name,
    )
  }
})

test('The first frame must be frontal', () => {
  const { firstYawMax, firstPitchMax } = challengeLimits
  for (const offset of [
    { yaw: firstYawMax, pitch: firstPitchMax },
    { yaw: -firstYawMax, pitch: -firstPitchMax },
  ]) {
    const shifted = (facts: ChallengeFacts, factor: number): ChallengeFacts => ({
      ...facts,
      yaw: facts.yaw + factor * offset.yaw,
      pitch: facts.pitch + factor * offset.pitch,
    })
    const judge = (factor: number) =>
      judgeFaces(['turnLeft'], shifted(front(), factor), shifted(turned(views.turnLeft), factor))
    assert.deepEqual(judge(1).reasons, [])
    assert.deepEqual(judge(1.001).reasons, ['CHALLENGE_NOT_FOLLOWED'])
  }
})

test('Every frame must show the person of the first, also a frame that shows no step', () => {
  const { similarityMin, linkedSimilarityMin } = challengeLimits
  const frames = ofSamePerson(
    front(),
    { ...front(), yaw: 3, fingerprint: fingerprint(92) },
    turned(views.turnLeft),
  )
  const judge = (...changes: readonly Partial<ChallengeFrame>[]) =>
    judgeChallenge(
      frames.map((frame, index) => ({ ...frame, ...changes[index] })),
      ['turnLeft'],
    )
  const low = { similarityToFirst: similarityMin - 0.0001 }
  const unlinked = { similarityToPrevious: similarityMin - 0.0001 }
  assert.equal(judge({}, { similarityToFirst: similarityMin, ...unlinked }, unlinked).passed, true)
  const { samePerson, reasons } = judge({}, { ...low, ...unlinked }, unlinked)
  assert.deepEqual([samePerson, reasons], [false, ['DIFFERENT_PERSON']])

  // A frame that is a little less similar is accepted beside a similar one, before it or after it.
  const linked = { similarityToFirst: linkedSimilarityMin, similarityToPrevious: similarityMin }
  assert.equal(judge({}, {}, linked).samePerson, true)
  assert.equal(judge({}, { ...linked, ...unlinked }, {}).samePerson, true)
  assert.equal(judge({}, {}, { ...linked, ...unlinked }).samePerson, false)
  const below = { ...linked, similarityToFirst: linkedSimilarityMin - 0.0001 }
  assert.equal(judge({}, {}, below).samePerson, false)
  assert.equal(judge({}, { ...low, ...unlinked }, linked).samePerson, false, 'no chain of links')
})

test('The depth of a face decides from its limit on whether it is flat', () => {
  for (const step of allSteps) {
    const { residualMin, noseDepthMin } = step.startsWith('turn')
      ? challengeLimits.turn
      : challengeLimits.look
    const isDeep = (depth: number): boolean => {
      const relief = measureRelief(front(depth), turned(views[step], depth), step)
      const isSolid = relief.residual >= residualMin && relief.noseDepth >= noseDepthMin
      return isSolid && evidenceOf(step, depth) >= challengeLimits.solid.movementMin
    }
    const edge = findEdge(isDeep)
    assert.ok(edge > 0.2 && edge < 0.95, `${step}: ${edge} of the depth of a face`)
    const judge = (depth: number) =>
      judgeFaces([step], front(depth), turned(views[step], depth)).reasons
    assert.deepEqual(judge(edge + 1e-3), [], step)
    assert.deepEqual(judge(edge - 1e-3), ['FLAT_FACE'], step)
  }
})

test('Two narrow steps are flat together, although each alone is not', () => {
  const steps = ['turnLeft', 'turnRight'] as const
  const narrowed = (step: ChallengeStep, share: number): ChallengeFacts => {
    const facts = turned(views[step])
    const width = 0.7 + 0.3 * share
    const points = facts.points.map((value, index) => (index % 2 === 0 ? width * value : value))
    return { ...facts, points }
  }
  const meanOf = (share: number): number => {
    const evidence = steps.map((step) =>
      solidEvidence(
        measureRelief(front(), narrowed(step, share), step),
        challengeLimits.turn.weights,
      ),
    )
    return evidence.reduce((sum, value) => sum + value, 0) / steps.length
  }
  const edge = findEdge((share) => meanOf(share) >= challengeLimits.solid.meanMin)
  const judge = (list: readonly ChallengeStep[], share: number) =>
    judgeFaces(list, front(), ...list.map((step) => narrowed(step, share))).reasons
  assert.deepEqual(judge(steps, edge + 1e-3), [])
  assert.deepEqual(judge(steps, edge - 1e-3), ['FLAT_FACE'])
  for (const step of steps) assert.deepEqual(judge([step], edge - 1e-3), [])
})

/** Returns the evidence of a head with this share of the depth of the face. */
function evidenceOf(step: ChallengeStep, depth: number): number {
  const { weights } = step.startsWith('turn') ? challengeLimits.turn : challengeLimits.look
  return solidEvidence(measureRelief(front(depth), turned(views[step], depth), step), weights)
}

/** Returns the smallest share of the depth of the face for which `isDeep` holds. */
function findEdge(isDeep: (depth: number) => boolean): number {
  assert.deepEqual([isDeep(0), isDeep(1)], [false, true])
  let [below, above] = [0, 1]
  while (above - below > 1e-4) {
    const middle = (below + above) / 2
    if (isDeep(middle)) above = middle
    else below = middle
  }
  return above
}

test('Several reasons are reported in the order of the checks, and too few frames are an error', () => {
  const frames = [front(0), turned(views.turnLeft, 0), front(0)].map((facts) => ({
    facts,
    similarityToFirst: 0.1,
    similarityToPrevious: 0.1,
  }))
  assert.deepEqual(judgeChallenge(frames, ['turnLeft', 'lookUp']).reasons, [
    'DIFFERENT_PERSON',
    'CHALLENGE_NOT_FOLLOWED',
    'FLAT_FACE',
    'FRAMES_IDENTICAL',
  ])
  assert.throws(() => judgeChallenge(frames, ['turnLeft', 'lookUp', 'turnLeft']), RangeError)
  assert.throws(() => judgeChallenge([], []), RangeError)
})
