import { mapInTurn } from '../lib/in-turn.ts'
import { faceCounts, facesOf as rowsOf } from '../store/faces.ts'
import { groupsOf } from '../store/groups.ts'
import type { SubjectRow } from '../store/schema.ts'
import { templatesOf } from '../store/templates.ts'
import type { Reading } from '../store/tx.ts'
import type { Calibrations } from './calibrations.ts'
import { preferredTemplate } from './preferred.ts'

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
  /** The model that the face is compared by. */
  readonly modelId: string
  readonly createdAtUtc: string
}

/** Shows subjects, in the order given; `faces` adds what is known of each face. */
export type DescribeSubjects = (
  reading: Reading,
  rows: readonly SubjectRow[],
  show?: { readonly faces: boolean },
) => Promise<Subject[]>

export function createDescribe(calibrations: Calibrations): DescribeSubjects {
  return async (reading, rows, show = { faces: false }) => {
    const subjectIds = rows.map(({ subjectId }) => subjectId)
    const groups = await groupsOf(reading, subjectIds)
    const counts = await faceCounts(reading, subjectIds)
    return mapInTurn(rows, async (row) => ({
      subjectId: row.subjectId,
      externalId: row.externalId,
      displayName: row.displayName,
      groups: [...(groups.get(row.subjectId) ?? [])],
      // Written by this folder, which takes an object.
      attributes: JSON.parse(row.attributes) as Record<string, unknown>,
      embeddingCount: counts.get(row.subjectId) ?? 0,
      ...(show.faces && { faces: await facesOf(reading, row.subjectId, calibrations) }),
      createdAtUtc: row.createdAtUtc,
      updatedAtUtc: row.updatedAtUtc,
      expiresAtUtc: row.expiresAtUtc,
    }))
  }
}

async function facesOf(
  reading: Reading,
  subjectId: string,
  calibrations: Calibrations,
): Promise<FaceFacts[]> {
  const byFace = Map.groupBy(await templatesOf(reading, subjectId), ({ faceId }) => faceId)
  return (await rowsOf(reading, subjectId)).map(({ faceId, qualityScore, createdAtUtc }) => {
    const { modelId = '' } = preferredTemplate(byFace.get(faceId) ?? [], calibrations) ?? {}
    return { faceId, qualityScore, modelId, createdAtUtc }
  })
}
