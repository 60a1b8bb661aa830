import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { challengeLimits } from '../../../src/vision/liveness/challenge/challenge-limits.ts'
import { pictureCorrelation } from '../../../src/vision/liveness/challenge/face-fingerprint.ts'
import { judgeFaces, openTurnedFaces, views } from '../../support/vision/turned-faces.ts'
import { smoothFingerprint } from '../../support/vision/turned-mesh.ts'

let faces: Awaited<ReturnType<typeof openTurnedFaces>>
before(async () => {
  faces = await openTurnedFaces()
})

const turned = (...view: Parameters<typeof faces.turned>) => faces.turned(...view)
const front = (depth = 1) => faces.front(depth)

test('One picture in two frames is found from its limits on, and a held pose is not', () => {
  const steps = ['turnLeft', 'lookUp', 'turnLeft'] as const
  const left = { ...turned(views.turnLeft), fingerprint: mixedPicture(0) }
  const judge = (share: number, yawDifference = 0) =>
    judgeFaces(steps, front(), left, turned(views.lookUp), {
      ...left,
      yaw: left.yaw + yawDifference,
      fingerprint: mixedPicture(share),
    }).reasons
  // The more the poses differ, the more the pictures must be alike.
  for (const [index, { poseDifferenceMin, correlationMax }] of challengeLimits.copies.entries()) {
    const edge = findEdge((share) => correlationWith(share) <= correlationMax)
    const nearer = challengeLimits.copies[index - 1]?.poseDifferenceMin ?? 0
    assert.deepEqual(judge(edge - 0.005, nearer), ['FRAMES_IDENTICAL'])
    assert.deepEqual(judge(edge + 0.005, nearer), [])
    assert.deepEqual(judge(edge - 0.005, poseDifferenceMin - 0.01), ['FRAMES_IDENTICAL'])
  }
  const furthest = Math.max(
    ...challengeLimits.copies.map(({ poseDifferenceMin }) => poseDifferenceMin),
  )
  assert.deepEqual(judge(0.02, furthest), [])
  assert.deepEqual(judge(0, furthest), ['FRAMES_IDENTICAL'], 'the very same pixels')

  const held = (share: number) =>
    judgeFaces(['turnLeft'], front(), left, { ...left, fingerprint: mixedPicture(share) }).reasons
  assert.deepEqual(held(0.05), [])
  assert.deepEqual(held(0), ['FRAMES_IDENTICAL'], 'the very same pixels')
})

test('A turn to the other side that is the mirror image of a turn is one picture', () => {
  const steps = ['turnLeft', 'turnRight'] as const
  const left = { ...turned(views.turnLeft), fingerprint: mixedPicture(0) }
  const judge = (share: number) => {
    const pixels = Buffer.from(mixedPicture(share), 'base64')
    const mirrored = pixels.map((_, i) => pixels[i - (i % 32) + 31 - (i % 32)] ?? 0)
    const fingerprint = Buffer.from(mirrored).toString('base64')
    return judgeFaces(steps, front(), left, { ...turned(views.turnRight), fingerprint }).reasons
  }
  const { mirroredCorrelationMax } = challengeLimits
  const edge = findEdge((share) => correlationWith(share) <= mirroredCorrelationMax)
  assert.deepEqual(judge(0), ['FRAMES_IDENTICAL'])
  assert.deepEqual(judge(edge - 0.02), ['FRAMES_IDENTICAL'])
  assert.deepEqual(judge(edge + 0.02), [])
})

/** Returns a picture, of which another one replaces this share. */
function mixedPicture(share: number): string {
  const pixels = Buffer.from(smoothFingerprint(1), 'base64')
  const others = Buffer.from(smoothFingerprint(2), 'base64')
  return Buffer.from(
    pixels.map((value, i) => Math.round((1 - share) * value + share * (others[i] ?? 0))),
  ).toString('base64')
}

function correlationWith(share: number): number {
  return pictureCorrelation(mixedPicture(0), mixedPicture(share))
}

/** Returns the smallest share for which `isOther` holds. */
function findEdge(isOther: (share: number) => boolean): number {
  assert.deepEqual([isOther(0), isOther(1)], [false, true])
  let [below, above] = [0, 1]
  while (above - below > 1e-4) {
    const middle = (below + above) / 2
    if (isOther(middle)) above = middle
    else below = middle
  }
  return above
}
