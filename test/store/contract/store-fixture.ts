import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Store } from '../../../src/store/database.ts'
import type { Project } from '../../../src/store/tenancy/projects.ts'
import type { FaceRow, SubjectRow } from '../../../src/store/gallery-schema.ts'
import { queries } from './tracked-queries.ts'

/** Compares values without their prototypes, which rows of SQLite lack. */
export function assertSameValues(actual: unknown, expected: unknown, message?: string): void {
  assert.deepEqual(structuredClone(actual), structuredClone(expected), message)
}

export function compareNullable(a: number | null, b: number | null): number {
  return (a ?? -1) - (b ?? -1)
}

/** The state at the start of each test: a store with an account and a project. */
export type StoreFixture = {
  readonly store: Store
  readonly accountId: string
  readonly project: Project
  readonly keyId: string
  /** The text of the key. */
  readonly key: string
}

export const now = new Date('2026-03-04T05:06:07.890Z')
export const nowUtc = now.toISOString()
export const nowMs = now.getTime()

export async function createStoreFixture(store: Store): Promise<StoreFixture> {
  const first = await store.runExclusive(({ db }) => queries.createInitialProject(db, now))
  const project = first && (await queries.findProject(store.db, first.projectId))
  const [firstKey] = await queries.listKeys(store.db, undefined, now)
  if (!first || !project || !firstKey) throw new Error('the first start created no project')
  const { accountId, key } = first
  return { store, accountId, project, keyId: firstKey.keyId, key }
}

/** Creates the gallery of the project with a gallery key. @returns the key's id. */
export async function createProjectGallery({
  store,
  accountId,
  project,
}: StoreFixture): Promise<string> {
  const galleryId = project.projectId
  await store.write(async (tx) => {
    await queries.createGallery(tx, { galleryId, accountId })
    await queries.createGallery(tx, { galleryId, accountId })
    await queries.addGalleryKey(tx, {
      keyId: 'wrapping',
      galleryId,
      masterKeyId: 'master',
      wrapped: randomBytes(32),
      createdAtMs: nowMs,
    })
  })
  return 'wrapping'
}

/** Enrolls a subject with one face and a template of each model. */
export async function enrollSubject(
  { store, project }: StoreFixture,
  subjectId: string,
  subject: Partial<SubjectRow> & { readonly models?: readonly string[] } = {},
): Promise<FaceRow> {
  const { models = ['active'], ...columns } = subject
  const galleryId = project.projectId
  const row: SubjectRow = {
    subjectId,
    galleryId,
    projectId: project.projectId,
    externalId: null,
    displayName: null,
    attributes: '{}',
    keyId: 'wrapping',
    wrappedKey: randomBytes(60),
    createdAtUtc: nowUtc,
    updatedAtUtc: nowUtc,
    expiresAtUtc: null,
    lastSeenAtUtc: nowUtc,
    withoutFaces: 0,
    ...columns,
  }
  return store.write(async (tx) => {
    await queries.lockGallery(tx, galleryId, 'exclusive')
    await queries.addSubject(tx, row)
    const sequence = await queries.recordGalleryChange(tx, { galleryId, subjects: 1, faces: 1 })
    const faceId = `face of ${subjectId}`
    const face = { faceId, subjectId, galleryId, sequence, qualityScore: 80, createdAtUtc: nowUtc }
    await queries.insertFace(tx, face)
    for (const modelId of models)
      await queries.addTemplate(tx, { faceId, galleryId, modelId, ciphertext: randomBytes(16) })
    return face
  })
}
