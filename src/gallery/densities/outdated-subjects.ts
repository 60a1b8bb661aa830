import { lockGallery, findGallery, recordGalleryChange } from '../../store/gallery/galleries.ts'
import { markForNewKey } from '../../store/gallery/key-renewals.ts'
import {
  findTemplatesOfSubjects,
  replaceTemplates,
} from '../../store/gallery/densities/outdated-templates.ts'
import type { StoredTemplate } from '../../store/gallery/templates.ts'
import type { ReadTx, Tx } from '../../store/tx.ts'
import type { Template } from '../../vision/embed/template.ts'
import type { DecryptStoredTemplate } from '../keys/decrypt-stored-template.ts'
import type { SubjectKeys } from '../keys/subject-keys.ts'
import { decryptTemplate, encryptTemplate } from '../keys/template-encryption.ts'
import type { GallerySearch, OwnedTemplate } from '../search/gallery-search.ts'
import type { DensityUpdate } from './density-update.ts'

export type OutdatedSubjectDeps = {
  readonly keys: Pick<SubjectKeys, 'unwrap'>
  readonly decryptStored: DecryptStoredTemplate
}

/** A subject with decrypted templates of the earlier version. */
export type OutdatedSubject = {
  readonly galleryId: string
  readonly accountId: string
  readonly subjectId: string
  readonly key: Buffer
  /** All rows of both versions, as they were read. */
  readonly rows: readonly StoredTemplate[]
  readonly faces: readonly OutdatedTemplate[]
}

type OutdatedTemplate = { readonly faceId: string; readonly vector: Float32Array }

export type ReadSubjects = {
  readonly subjects: readonly OutdatedSubject[]
  /** Faces whose template cannot be decrypted. */
  readonly unreadableFaceIds: readonly string[]
}

/** Reads and decrypts the templates of subjects that an update replaces. */
export async function readOutdatedSubjects(
  reading: ReadTx,
  subjectIds: readonly string[],
  { fromModelId, toModelId }: DensityUpdate,
  { keys, decryptStored }: OutdatedSubjectDeps,
): Promise<ReadSubjects> {
  const rows = await findTemplatesOfSubjects(reading, subjectIds, [fromModelId, toModelId])
  const accountIds = new Map<string, string>()
  const subjects: OutdatedSubject[] = []
  const unreadableFaceIds: string[] = []
  for (const ofSubject of Map.groupBy(rows, (row) => row.subjectId).values()) {
    const [first] = ofSubject
    if (!first) continue
    const { galleryId, subjectId } = first
    const accountId =
      accountIds.get(galleryId) ?? (await findGallery(reading, galleryId))?.accountId ?? ''
    accountIds.set(galleryId, accountId)
    const key = await keys.unwrap(reading, first).catch(() => undefined)
    const faces: OutdatedTemplate[] = []
    for (const row of ofSubject.filter(({ modelId }) => modelId === fromModelId)) {
      // One key decrypts all templates of the subject; `decryptStored` reports why one is unreadable.
      const template =
        (key && tryDecrypt(key, { ...row, accountId })) ?? (await decryptStored(reading, row))
      if (template) faces.push({ faceId: row.faceId, vector: template.vector })
      else unreadableFaceIds.push(row.faceId)
    }
    if (key && faces.length > 0)
      subjects.push({ galleryId, accountId, subjectId, key, rows: ofSubject, faces })
  }
  return { subjects, unreadableFaceIds }
}

function tryDecrypt(
  key: Buffer,
  row: StoredTemplate & { readonly accountId: string },
): Template | undefined {
  try {
    return decryptTemplate(key, row, row.sealed)
  } catch {
    return undefined
  }
}

/** A subject with its new templates, decrypted and encrypted. */
export type UpdatedSubject = OutdatedSubject & {
  readonly templates: readonly (OwnedTemplate & { readonly sealed: Buffer })[]
}

/** Encrypts the templates of a subject with their new densities, which have the order of the faces. */
export function sealUpdatedSubject(
  subject: OutdatedSubject,
  densities: ArrayLike<number>,
  { toModelId: modelId }: DensityUpdate,
): UpdatedSubject {
  const { galleryId, accountId, subjectId, key, faces } = subject
  const templates = faces.map(({ faceId, vector }, index) => {
    const template = { modelId, vector, density: densities[index] ?? Number.NaN }
    const owner = { galleryId, subjectId, faceId }
    return {
      owner,
      template,
      sealed: encryptTemplate(key, { ...owner, accountId, modelId }, template),
    }
  })
  return { ...subject, templates }
}

/**
 * Replaces the templates of subjects of one gallery, all of a subject or none. A subject that was
 * changed or deleted since it was read, for example by a key rotation, is left as it is.
 *
 * @returns the subjects that were replaced.
 */
export async function replaceUnchangedSubjects(
  tx: Tx,
  subjects: readonly UpdatedSubject[],
  update: DensityUpdate,
  search: Pick<GallerySearch, 'storeVectors'>,
): Promise<readonly UpdatedSubject[]> {
  const [first] = subjects
  if (!first) return []
  await lockGallery(tx, first.galleryId, 'exclusive')
  const subjectIds = subjects.map(({ subjectId }) => subjectId)
  const { fromModelId, toModelId } = update
  const rows = await findTemplatesOfSubjects(tx, subjectIds, [fromModelId, toModelId])
  const current = Map.groupBy(rows, ({ subjectId }) => subjectId)
  const unchanged = subjects.filter((subject) =>
    haveSameCiphertexts(subject.rows, current.get(subject.subjectId) ?? []),
  )
  await replaceSubjects(tx, unchanged, update, search)
  return unchanged
}

/** Equal ciphertexts were encrypted with the same key: a new key of the subject changes them all. */
function haveSameCiphertexts(
  rows: readonly StoredTemplate[],
  current: readonly StoredTemplate[],
): boolean {
  const keyOf = ({ faceId, modelId }: StoredTemplate): string => `${faceId} ${modelId}`
  const sealedByKey = new Map(current.map((row) => [keyOf(row), Buffer.from(row.sealed)]))
  return (
    rows.length === current.length &&
    rows.every((row) => sealedByKey.get(keyOf(row))?.equals(row.sealed) === true)
  )
}

/** Replaces the templates of subjects of one gallery. Must be called with the gallery locked. */
export async function replaceSubjects(
  tx: Tx,
  subjects: readonly UpdatedSubject[],
  { fromModelId, toModelId }: DensityUpdate,
  search: Pick<GallerySearch, 'storeVectors'>,
): Promise<void> {
  const galleryId = subjects[0]?.galleryId
  if (galleryId === undefined) return
  const updated = new Set(
    subjects.flatMap(({ rows }) =>
      rows.flatMap(({ faceId, modelId }) => (modelId === toModelId ? [faceId] : [])),
    ),
  )
  const templates = subjects.flatMap((subject) => subject.templates)
  // A face with templates of both versions keeps the later one, which its own picture may have given.
  const added = templates.filter(({ owner }) => !updated.has(owner.faceId))
  const removed = templates.filter(({ owner }) => updated.has(owner.faceId))
  await markForNewKey(
    tx,
    removed.map(({ owner }) => owner.faceId),
  )
  await replaceTemplates(tx, {
    galleryId,
    modelId: fromModelId,
    faceIds: templates.map(({ owner }) => owner.faceId),
    templates: added.map(({ owner: { faceId }, sealed }) => ({
      galleryId,
      faceId,
      modelId: toModelId,
      sealed,
    })),
    sequence: await recordGalleryChange(tx, { galleryId }),
  })
  await search.storeVectors(tx, added)
}

/** Overwrites the decrypted vectors and the keys with zeros. */
export function eraseSubjects(subjects: readonly OutdatedSubject[]): void {
  for (const { key, faces } of subjects) {
    key.fill(0)
    for (const { vector } of faces) vector.fill(0)
  }
}
