import type { FaceRow, SubjectRow, TemplateRow } from '../gallery-schema.ts'
import type { ReadTx, Tx } from '../database.ts'

/** A template with its subject, the subject's encrypted key and expiry. */
export type StoredTemplate = TemplateRow &
  Pick<FaceRow, 'subjectId'> &
  Pick<SubjectRow, 'keyId' | 'wrappedKey' | 'expiresAtUtc'>

export async function addTemplate(tx: Tx, template: TemplateRow): Promise<void> {
  await tx.run(tx.build.insertInto('templates').values(template))
}

/** Finds all templates of subjects, of all models. */
export async function findSubjectTemplates(tx: ReadTx, subjectIds: readonly string[]) {
  if (subjectIds.length === 0) return []
  return tx.run(selectOrderedTemplates(tx).where('faces.subjectId', 'in', subjectIds))
}

/** Finds all templates of the faces, of all models. */
export async function findFaceTemplates(tx: ReadTx, faceIds: readonly string[]) {
  if (faceIds.length === 0) return []
  return tx.run(selectOrderedTemplates(tx).where('faces.faceId', 'in', faceIds))
}

/** Selects templates with their subjects, in the order of enrollment. */
export function selectOrderedTemplates(tx: ReadTx) {
  return selectStoredTemplates(tx)
    .orderBy('faces.createdAtUtc')
    .orderBy('faces.faceId')
    .orderBy('templates.modelId')
}

/** Selects templates with their subjects. */
export function selectStoredTemplates(tx: ReadTx) {
  return joinStoredTemplates(tx)
    .selectAll('templates')
    .select(['faces.subjectId', 'subjects.keyId', 'subjects.wrappedKey'])
    .select('subjects.expiresAtUtc')
}

/** Joins templates with their subjects, also by gallery, so that PostgreSQL reads one partition. */
export function joinStoredTemplates(tx: ReadTx) {
  return tx.build
    .selectFrom('templates')
    .innerJoin('faces', (on) =>
      on
        .onRef('faces.faceId', '=', 'templates.faceId')
        .onRef('faces.galleryId', '=', 'templates.galleryId'),
    )
    .innerJoin('subjects', 'subjects.subjectId', 'faces.subjectId')
}
