import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp, { type Sharp } from 'sharp'
import { imageItem, startFacegate, type TestFacegate } from '../support/facegate/test-facegate.ts'
import { drawViews, frontalPortrait, type DrawnViews } from '../support/liveness/drawn-head.ts'
import type { AngleRange, ChallengeStep } from '../../src/lib/liveness/challenge-steps.ts'

let facegate: TestFacegate
let frontal: Buffer
let views: DrawnViews
before(async () => {
  // Many attempts fail here.
  facegate = await startFacegate({ LIVENESS_FAILURES_PER_MINUTE_MAX: '1000' })
  frontal = await frontalPortrait()
  views = await drawViews()
})
after(() => facegate[Symbol.asyncDispose]())

type Session = {
  readonly sessionId: string
  readonly steps: readonly ChallengeStep[]
  readonly angles: readonly AngleRange[]
}

async function createSession(options: object = {}): Promise<Session> {
  const response = await fetch(`${facegate.url}/v1/liveness/sessions`, {
    method: 'POST',
    headers: { 'x-api-key': facegate.key, 'content-type': 'application/json' },
    body: JSON.stringify({ steps: 2, requireAngles: false, ...options }),
  })
  assert.equal(response.status, 200)
  return (await response.json()) as Session
}

/** Creates sessions until one has these random steps. */
async function createSessionOf(...steps: readonly ChallengeStep[]): Promise<Session> {
  for (;;) {
    const session = await createSession()
    if (session.steps.join() === steps.join()) return session
  }
}

/** Sends the frames of an attempt. @returns the state of the session after it. */
async function sendFrames({ sessionId }: Session, frames: readonly Buffer[]) {
  const images = frames.map((bytes) => imageItem({ bytes, contentType: 'image/jpeg' }))
  const params = { livenessSessionId: sessionId, images }
  await facegate.post({ action: 'svc.liveness', params })
  const response = await fetch(`${facegate.url}/v1/liveness/sessions/${sessionId}`, {
    headers: { 'x-api-key': facegate.key },
  })
  // oxlint-disable-next-line typescript/no-explicit-any
  return (await response.json()) as Record<string, any>
}

const toJpeg = (image: Sharp): Promise<Buffer> => image.jpeg({ quality: 95 }).toBuffer()

/** A mask over mouth and chin. */
const mask = { create: { width: 220, height: 170, channels: 3, background: '#9fc3d8' } } as const

/** Frames in which the head does not move, each with a defect that the person can correct. */
const defects: Readonly<Record<string, (portrait: Sharp) => Sharp>> = {
  TOO_FAR: (portrait) =>
    portrait.resize(90).extend({ top: 195, bottom: 195, left: 195, right: 195 }),
  TOO_NEAR: (portrait) =>
    portrait.extract({ left: 105, top: 85, width: 270, height: 320 }).resize(480),
  TOO_DARK: (portrait) => portrait.linear(0.12, 0),
  TOO_BRIGHT: (portrait) => portrait.linear(1, 180),
  TOO_FAST: (portrait) => portrait.blur(7).linear(1.6, -54),
  COVERED: (portrait) => portrait.composite([{ input: mask, left: 130, top: 260 }]),
}

for (const [cause, change] of Object.entries(defects))
  test(`A step that is not shown in frames with this defect has the cause ${cause}`, async () => {
    const session = await createSession()
    const degraded = await toJpeg(change(sharp(frontal)))
    const { causes, state, attemptsLeft } = await sendFrames(session, [
      await toJpeg(sharp(frontal)),
      degraded,
      degraded,
    ])
    assert.deepEqual([state, attemptsLeft], ['open', 2])
    assert.deepEqual(
      causes,
      session.steps.map((step) => ({ step, cause })),
    )
  })

test('A first frame without a face has the cause NO_FACE', async () => {
  const empty = sharp({ create: { width: 480, height: 480, channels: 3, background: '#8a8f94' } })
  const session = await createSession()
  const { turned } = views
  const turnedFrames = session.steps.map((step) => turned[step][0])
  const { causes } = await sendFrames(session, [await toJpeg(empty), ...turnedFrames])
  assert.deepEqual(causes, [{ step: null, cause: 'NO_FACE' }])
})

test('A head that turns by the same angle each time does not show smaller requested angles', async () => {
  let session = await createSession({ requireAngles: true })
  while (session.angles.some(({ degreesMax }) => degreesMax > 25))
    session = await createSession({ requireAngles: true })
  const prepared = session.steps.map((step) => views.turned[step][1])
  const { decision, causes } = await sendFrames(session, [views.frontal, ...prepared])
  assert.equal(decision, 'uncertain')
  assert.deepEqual(
    causes.map(({ step, cause, degreesMax }: Record<string, unknown>) => [step, cause, degreesMax]),
    session.steps.map((step, index) => [step, 'MOVED_TOO_FAR', session.angles[index]?.degreesMax]),
  )
})

test('One picture in two frames has the cause PICTURE_OF_PICTURE, and the same steps without it pass', async () => {
  const { turnLeft, lookUp } = views.turned
  const passing = [views.frontal, turnLeft[0], lookUp[0]]
  const passed = await sendFrames(await createSessionOf('turnLeft', 'lookUp'), passing)
  assert.deepEqual([passed.state, passed.causes], ['passed', []], JSON.stringify(passed.reasons))
  const repeated = [views.frontal, turnLeft[0], turnLeft[0], lookUp[0]]
  const failed = await sendFrames(await createSessionOf('turnLeft', 'lookUp'), repeated)
  assert.deepEqual(
    [failed.reasons, failed.causes],
    [['FRAMES_IDENTICAL'], [{ step: null, cause: 'PICTURE_OF_PICTURE' }]],
  )
})
