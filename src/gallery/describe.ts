import { groupsOf } from '../store/groups.ts'
import type { SubjectRow } from '../store/schema.ts'
import { templateCounts, templatesOf } from '../store/templates.ts'
import type { Reading } from '../store/tx.ts'

/** A subject as it is shown; never its templates. */
export type Subject = Pick<
  SubjectRow,
  'subjectId' | 'externalId' | 'displayName' | 'createdAtUtc' | 'updatedAtUtc' | 'expiresAtUtc'
> & {
  readonly groups: string[]
  readonly attributes: Readonly<Record<string, unknown>>
  readonly embeddingCount: number
  readonly faces?: FaceFacts[]
}

type FaceFacts = {
  readonly faceId: string
  readonly qualityScore: number
  readonly modelId: string
  readonly createdAtUtc: string
}

/** Shows subjects, in the order given; `faces` adds what is known of each template. */
export function describeSubjects(
  reading: Reading,
  rows: readonly SubjectRow[],
  show: { readonly faces: boolean } = { faces: false },
): Subject[] {
  const subjectIds = rows.map(({ subjectId }) => subjectId)
  const groups = groupsOf(reading, subjectIds)
  const counts = templateCounts(reading, subjectIds)
  return rows.map((row) => ({
    subjectId: row.subjectId,
    externalId: row.externalId,
    displayName: row.displayName,
    groups: [...(groups.get(row.subjectId) ?? [])],
    // Written by this folder, which takes an object.
    attributes: JSON.parse(row.attributes) as Record<string, unknown>,
    embeddingCount: counts.get(row.subjectId) ?? 0,
    ...(show.faces && { faces: facesOf(reading, row.subjectId) }),
    createdAtUtc: row.createdAtUtc,
    updatedAtUtc: row.updatedAtUtc,
    expiresAtUtc: row.expiresAtUtc,
  }))
}

function facesOf(reading: Reading, subjectId: string): FaceFacts[] {
  return templatesOf(reading, subjectId).map(
    ({ faceId, qualityScore, modelId, createdAtUtc }): FaceFacts => ({
      faceId,
      qualityScore,
      modelId,
      createdAtUtc,
    }),
  )
}
