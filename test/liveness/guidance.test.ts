import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guideStep } from '../../client/src/liveness/guidance.ts'
import { angleRanges } from '../../src/lib/liveness/challenge-steps.ts'

const first = { yaw: 2, pitch: -3 }
const checkOf = (face: { yaw: number; pitch: number }) => ({ face, causes: [] })

test('A requested angle is good from its lower to its upper limit; before and beyond it has a hint', () => {
  for (const angle of angleRanges.turn) {
    const guide = (degrees: number) =>
      guideStep({ step: 'turnRight', angle }, checkOf({ yaw: 2 - degrees, pitch: -3 }), first)
    for (const degrees of [angle.degreesMin, angle.degreesMax])
      assert.deepEqual(guide(degrees), { share: 1, hint: undefined })
    const before = guide(angle.degreesMin - 0.5)
    assert.equal(before.hint, 'further')
    assert.ok(before.share > 0.9 && before.share < 1)
    const beyond = guide(angle.degreesMax + 0.5)
    assert.equal(beyond.hint, 'back')
    assert.ok(beyond.share > 0.9 && beyond.share < 1)
    assert.equal(guide(-angle.degreesMin).hint, 'otherWay')
  }
})

test('Without a requested angle every movement beyond the limit is good', () => {
  for (const degrees of [22, 35, 60]) {
    const face = checkOf({ yaw: 2, pitch: -3 + degrees })
    assert.deepEqual(guideStep({ step: 'lookUp' }, face, first), { share: 1, hint: undefined })
  }
})
