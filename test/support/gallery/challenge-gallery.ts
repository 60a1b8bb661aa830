import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { readCalls, type LoggedCall } from '../../../src/store/gate/calls.ts'
import type { Project } from '../../../src/store/tenancy/projects.ts'
import { frameImages, framesOf } from './challenge-frames.ts'
import type { FakePerson } from './fake-vision.ts'
import { startGallery, type GalleryClient, type TestGallery } from './test-gallery.ts'
import type { AngleRange, ChallengeStep } from '../../../src/lib/liveness/challenge-steps.ts'

export const failuresMax = 3
export const openMax = 6
export const frameBytesMax = 4 * 1024 * 1024

/** A service with small limits of challenges and a clock that tests set. */
export type ChallengeGallery = {
  readonly gallery: TestGallery
  readonly clock: { nowMs: number }
  readonly createProject: (
    permissions?: readonly string[],
  ) => Promise<GalleryClient & { readonly project: Project }>
  /** Returns the rows of a project in the request log. */
  readonly loggedCalls: (client: { readonly project: Project }) => Promise<readonly LoggedCall[]>
}

/** Starts a service before the tests of a file, and closes it after them. */
export function useChallengeGallery(): ChallengeGallery {
  const clock = { nowMs: Date.now() }
  let gallery: TestGallery
  before(async () => {
    gallery = await startGallery({
      clock: () => clock.nowMs,
      environment: {
        LIVENESS_FAILURES_PER_MINUTE_MAX: String(failuresMax),
        LIVENESS_SESSIONS_OPEN_MAX: String(openMax),
        LIVENESS_FRAMES_BYTES_MAX: String(frameBytesMax),
      },
    })
  })
  after(() => gallery[Symbol.asyncDispose]())
  return {
    get gallery() {
      return gallery
    },
    clock,
    createProject: (permissions = ['*']) =>
      gallery.createProjectClient({ galleryMode: 'isolated', permissions }),
    loggedCalls: ({ project: { projectId } }) =>
      gallery.database.store.read((tx) => readCalls(tx, { projectId, limit: 50 })),
  }
}

export type CreatedSession = {
  readonly livenessSessionId: string
  readonly steps: ChallengeStep[]
  readonly angles?: readonly AngleRange[]
}

export async function createSession(client: GalleryClient, body: object = {}) {
  const response = await client.rest('POST', '/v1/liveness/sessions', body)
  assert.equal(response.status, 200, JSON.stringify(response.body))
  const { sessionId: livenessSessionId } = response.body
  return { ...response.body, livenessSessionId } as CreatedSession & Record<string, unknown>
}

/** Returns the parameters of a call in which a person follows the steps. */
export const answerOf = (
  { livenessSessionId, steps, angles }: CreatedSession,
  person: Partial<FakePerson> = {},
) => ({ livenessSessionId, images: frameImages(framesOf(steps, person, angles)) })

/** The same in the wrong order. */
export const wrongAnswerOf = ({ livenessSessionId, steps }: CreatedSession) =>
  answerOf({ livenessSessionId, steps: steps.toReversed().concat(steps.slice(0, 1)).slice(1) })

/** Passes a session. @returns its id. */
export async function proveLiveness(
  client: GalleryClient,
  person: Partial<FakePerson> = {},
): Promise<string> {
  const session = await createSession(client)
  const value = await client.value('svc.liveness', answerOf(session, person))
  assert.deepEqual([value.decision, value.reasons], ['live', []])
  return session.livenessSessionId
}
