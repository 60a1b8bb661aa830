import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../../src/store/database.ts'
import { insertMatches } from '../../../src/store/gallery/feedback/match-verdicts.ts'
import { imageParams, type GalleryClient } from './test-gallery.ts'

/** A threshold that other people reach, as a look-alike reaches a usual one. */
export const lookAlikeThreshold = 0.3

export const pictureOf = (name: string, take: number) => imageParams({ name, deviation: 0.3, take })

/** Enrolls a person with one picture. @returns the id of the subject. */
export async function enrollPerson(
  client: GalleryClient,
  name: string,
  fields: object = {},
): Promise<string> {
  const params = { ...pictureOf(name, 0), duplicateCheck: 'off', ...fields }
  return (await client.value('svc.enroll', params)).subjectId
}

/** Searches for a picture with that threshold. @returns the id of the call and its value. */
export async function identify(
  client: GalleryClient,
  picture: object,
  requestId: string = randomUUID(),
) {
  const params = { threshold: lookAlikeThreshold, ...picture }
  const { body } = await client.call('svc.identify', params, { requestId })
  assert.deepEqual(body.errors, [])
  return { requestId, value: body.data.results[0].value }
}

export const sendFeedback = (client: GalleryClient, body: object) =>
  client.rest('POST', '/v1/feedback', body)

/** Denies the match of a new picture of another person. @returns the id of the call. */
export async function denyMatch(client: GalleryClient, picture: object): Promise<string> {
  const { requestId } = await identify(client, picture)
  const { status, body } = await sendFeedback(client, { requestId, verdict: 'deny' })
  assert.equal(status, 200, JSON.stringify(body))
  return requestId
}

type MatchedSubject = {
  readonly projectId: string
  readonly galleryId: string
  readonly subjectId: string
}

/** Stores matches of a subject that can be confirmed or denied, with templates that nothing decrypts. */
export async function addMatches(
  store: Store,
  subject: MatchedSubject,
  count: number,
): Promise<void> {
  const matchedAtMs = Date.now()
  const times = { matchedAtMs, expiresAtMs: matchedAtMs + 60_000 }
  const position = { resultIndex: 0, faceIndex: 0, verdict: null }
  const template = { modelId: 'people@1', ciphertext: Buffer.from('template') }
  const match = { ...subject, ...times, ...position, ...template }
  await store.write(async (tx) => {
    const added = Array.from({ length: count }, () => {
      return { ...match, verdictId: randomUUID(), requestId: randomUUID() }
    })
    await insertMatches(tx, added)
  })
}

/** Stores matches of a subject that calls of a project confirmed. */
export async function addConfirmedMatches(
  store: Store,
  { projectId, subjectId }: Pick<MatchedSubject, 'projectId' | 'subjectId'>,
  count: number,
): Promise<void> {
  const { galleryId } = await store.db
    .selectFrom('subjects')
    .select('galleryId')
    .where('subjectId', '=', subjectId)
    .executeTakeFirstOrThrow()
  await addMatches(store, { projectId, subjectId, galleryId }, count)
  const confirmed = { verdict: 'confirmed', ciphertext: null, expiresAtMs: null } as const
  const change = store.db.updateTable('matchVerdicts').set(confirmed)
  await change.where('matchedId', '=', subjectId).execute()
}
