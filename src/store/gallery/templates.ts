import type { FaceRow, SubjectRow, TemplateRow } from '../schema.ts'
import type { ReadTx, Tx } from '../tx.ts'

/** A template with whose it is and the key that it is encrypted under. */
export type StoredTemplate = TemplateRow &
  Pick<FaceRow, 'subjectId'> &
  Pick<SubjectRow, 'keyId' | 'wrappedKey'>

export async function addTemplate(tx: Tx, template: TemplateRow): Promise<void> {
  await tx.run(tx.build.insertInto('templates').values(template))
}

/** All templates of a subject, of whatever model. */
export function findSubjectTemplates(
  reading: ReadTx,
  subjectId: string,
): Promise<readonly StoredTemplate[]> {
  return reading.run(selectTemplates(reading).where('faces.subjectId', '=', subjectId))
}

/** All templates of these faces, of whatever model. */
export async function findFaceTemplates(
  reading: ReadTx,
  faceIds: readonly string[],
): Promise<readonly StoredTemplate[]> {
  if (faceIds.length === 0) return []
  return reading.run(selectTemplates(reading).where('faces.faceId', 'in', faceIds))
}

function selectTemplates(reading: ReadTx) {
  return reading.build
    .selectFrom('templates')
    .innerJoin('faces', (on) =>
      on
        .onRef('faces.faceId', '=', 'templates.faceId')
        .onRef('faces.galleryId', '=', 'templates.galleryId'),
    )
    .innerJoin('subjects', 'subjects.subjectId', 'faces.subjectId')
    .selectAll('templates')
    .select(['faces.subjectId', 'subjects.keyId', 'subjects.wrappedKey'])
    .orderBy('faces.createdAtUtc')
    .orderBy('faces.faceId')
    .orderBy('templates.modelId')
}
