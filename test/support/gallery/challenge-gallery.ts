import assert from 'node:assert/strict'
import type { ChallengeStep } from '../../../src/vision/liveness/challenge/challenge-judgement.ts'
import { readCalls, type LoggedCall } from '../../../src/store/gate/calls.ts'
import type { Project } from '../../../src/store/tenancy/projects.ts'
import { frameImages, framesOf } from './challenge-frames.ts'
import type { FakePerson } from './fake-vision.ts'
import { startGallery, type GalleryClient, type TestGallery } from './test-gallery.ts'

export const failuresMax = 3
export const openMax = 4

/** A service with small limits of challenges and a clock that tests set. */
export type ChallengeGallery = AsyncDisposable & {
  readonly gallery: TestGallery
  readonly clock: { nowMs: number }
  readonly createProject: (
    permissions?: readonly string[],
  ) => Promise<GalleryClient & { readonly project: Project }>
  /** Returns the rows of a project in the request log. */
  readonly loggedCalls: (client: { readonly project: Project }) => Promise<readonly LoggedCall[]>
}

export async function startChallengeGallery(): Promise<ChallengeGallery> {
  const clock = { nowMs: Date.now() }
  const gallery = await startGallery({
    clock: () => clock.nowMs,
    environment: {
      LIVENESS_FAILURES_PER_MINUTE_MAX: String(failuresMax),
      LIVENESS_CHALLENGES_OPEN_MAX: String(openMax),
    },
  })
  return {
    gallery,
    clock,
    createProject: (permissions = ['*']) =>
      gallery.createProjectClient({ galleryMode: 'isolated', permissions }),
    loggedCalls: ({ project: { projectId } }) =>
      gallery.database.store.read((tx) => readCalls(tx, { projectId, limit: 50 })),
    [Symbol.asyncDispose]: () => gallery[Symbol.asyncDispose](),
  }
}

export type CreatedChallenge = { readonly challengeId: string; readonly steps: ChallengeStep[] }

export async function createChallenge(client: GalleryClient, body: object = {}) {
  const response = await client.rest('POST', '/v1/liveness/challenges', body)
  assert.equal(response.status, 200, JSON.stringify(response.body))
  return response.body as CreatedChallenge & Record<string, unknown>
}

/** Returns the parameters of a call in which a person follows the steps. */
export const answerOf = (
  { challengeId, steps }: CreatedChallenge,
  person: Partial<FakePerson> = {},
) => ({ challengeId, images: frameImages(framesOf(steps, person)) })

/** The same in the wrong order. */
export const wrongAnswerOf = ({ challengeId, steps }: CreatedChallenge) =>
  answerOf({ challengeId, steps: steps.toReversed().concat(steps.slice(0, 1)).slice(1) })

/** Passes a challenge. @returns the token. */
export async function proveLiveness(
  client: GalleryClient,
  person: Partial<FakePerson> = {},
): Promise<string> {
  const value = await client.value('svc.liveness', answerOf(await createChallenge(client), person))
  assert.deepEqual([value.decision, value.reasons], ['live', []])
  return value.livenessToken
}
