import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTurn, type AngleRange } from '../../src/lib/liveness/challenge-steps.ts'
import { frameImages, framesOf, turnByDegrees } from '../support/gallery/challenge-frames.ts'
import {
  answerOf,
  createSession,
  useChallengeGallery,
} from '../support/gallery/challenge-gallery.ts'
import type { GalleryClient } from '../support/gallery/test-gallery.ts'

const { createProject } = useChallengeGallery()

async function readSession(client: GalleryClient, session: { readonly livenessSessionId: string }) {
  return (await client.rest('GET', `/v1/liveness/sessions/${session.livenessSessionId}`)).body
}

test('By default each step has a random angle, no adjacent one for a repeated direction', async () => {
  const drawn = new Map<string, Set<number>>()
  for (let round = 0; round < 60; round++) {
    const client = await createProject()
    const { steps, angles = [] } = await createSession(client, { steps: 4 })
    assert.equal(angles.length, 4)
    for (const [index, step] of steps.entries()) {
      const { degreesMin = 0, degreesMax = 0 } = angles[index] ?? {}
      assert.equal(degreesMax - degreesMin, 5)
      const earlier = angles.slice(0, index).filter((_, at) => steps[at] === step)
      for (const angle of earlier)
        assert.ok(Math.abs(angle.degreesMin - degreesMin) > 5, JSON.stringify({ steps, angles }))
      const kind = isTurn(step) ? 'turn' : 'look'
      drawn.set(kind, (drawn.get(kind) ?? new Set()).add(degreesMin))
    }
  }
  const sorted = (kind: string) => [...(drawn.get(kind) ?? [])].toSorted((a, b) => a - b)
  assert.deepEqual(
    [sorted('turn'), sorted('look')],
    [
      [20, 25, 30, 35],
      [15, 20, 25],
    ],
  )
  const angleless = await createSession(await createProject(), { requireAngles: false })
  assert.deepEqual(angleless.angles, [])
})

test('A requested angle is shown from its lower to its upper limit, and a failed attempt has new angles', async () => {
  const show = async (degreesOf: (angle: AngleRange, index: number) => number) => {
    const client = await createProject()
    const session = await createSession(client, { steps: 2 })
    const frames = framesOf(session.steps)
    const turned = frames.map(([face], index) => {
      const [step, angle] = [session.steps[index - 1], session.angles?.[index - 1]]
      return face && step && angle
        ? [{ ...face, turn: turnByDegrees(step, degreesOf(angle, index)) }]
        : frames[index]
    })
    const { livenessSessionId } = session
    const images = frameImages(turned.map((people) => people ?? []))
    const { live, reasons, challenge } = await client.value('svc.liveness', {
      livenessSessionId,
      images,
    })
    return { live, reasons, challenge, session, state: await readSession(client, session) }
  }
  for (const limit of ['degreesMin', 'degreesMax'] as const)
    assert.deepEqual((await show((angle) => angle[limit])).reasons, [], limit)
  const further = await show(({ degreesMax }) => degreesMax + 0.5)
  assert.deepEqual([further.live, further.reasons], [false, ['CHALLENGE_NOT_FOLLOWED']])
  const { steps, angles = [] } = further.session
  const tooFar = steps.map((step, index) => {
    const { degreesMax = 0 } = angles[index] ?? {}
    return { step, cause: 'MOVED_TOO_FAR', degrees: degreesMax + 0.5, degreesMax }
  })
  assert.deepEqual(further.challenge.causes, tooFar)
  assert.deepEqual(further.state.causes, tooFar)
  assert.equal(further.state.angles.length, 2, 'of the next attempt')
  const less = await show(({ degreesMin }, index) => degreesMin - (index === 2 ? 0.5 : 0))
  assert.deepEqual([less.live, less.reasons], [false, ['CHALLENGE_NOT_FOLLOWED']])
  const { degreesMin = 0 } = less.session.angles?.[1] ?? {}
  const expected = { cause: 'MOVED_TOO_LITTLE', degrees: degreesMin - 0.5, degreesMin }
  assert.deepEqual(less.challenge.causes, [{ step: less.session.steps[1], ...expected }])
})

test('A movement counts by its furthest frame: a head that passes the requested angle is refused', async () => {
  const client = await createProject()
  const session = await createSession(client, { steps: 2 })
  const [front = [], first = [], second = []] = framesOf(session.steps, {}, session.angles)
  const [step, angle] = [session.steps[0], session.angles?.[0]]
  assert.ok(step && angle)
  const further = first.map((face) => ({
    ...face,
    take: 9,
    turn: turnByDegrees(step, angle.degreesMax + 3),
  }))
  const images = frameImages([front, first, further, second])
  const { livenessSessionId } = session
  const { reasons } = await client.value('svc.liveness', { livenessSessionId, images })
  assert.deepEqual(reasons, ['CHALLENGE_NOT_FOLLOWED'])
  const next = await readSession(client, session)
  const answer = answerOf({ livenessSessionId, steps: next.steps, angles: next.angles })
  assert.equal((await client.value('svc.liveness', answer)).live, true)
})
