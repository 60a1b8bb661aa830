import { mapSequential } from '../lib/map-sequential.ts'
import { faceCounts, findSubjectFaces as rowsOf } from '../store/gallery/faces.ts'
import { findSubjectGroups } from '../store/gallery/groups.ts'
import type { SubjectRow } from '../store/schema.ts'
import { findSubjectTemplates } from '../store/gallery/templates.ts'
import type { ReadTx } from '../store/tx.ts'
import type { Calibrations } from './calibration/calibrations.ts'
import { selectTemplate } from './select-template.ts'

/** A subject as it is shown; never its templates. */
export type SubjectDetails = Pick<
  SubjectRow,
  'subjectId' | 'externalId' | 'displayName' | 'createdAtUtc' | 'updatedAtUtc' | 'expiresAtUtc'
> & {
  readonly groups: string[]
  readonly attributes: Readonly<Record<string, unknown>>
  readonly embeddingCount: number
  readonly faces?: FaceDetails[]
}

type FaceDetails = {
  readonly faceId: string
  readonly qualityScore: number
  /** The model that the face is compared by. */
  readonly modelId: string
  readonly createdAtUtc: string
}

/** Shows subjects, in the order given; `faces` adds what is known of each face. */
export type LoadSubjectDetails = (
  reading: ReadTx,
  rows: readonly SubjectRow[],
  show?: { readonly faces: boolean },
) => Promise<SubjectDetails[]>

export function createLoadSubjectDetails(calibrations: Calibrations): LoadSubjectDetails {
  return async (reading, rows, show = { faces: false }) => {
    const subjectIds = rows.map(({ subjectId }) => subjectId)
    const groups = await findSubjectGroups(reading, subjectIds)
    const counts = await faceCounts(reading, subjectIds)
    return mapSequential(rows, async (row) => ({
      subjectId: row.subjectId,
      externalId: row.externalId,
      displayName: row.displayName,
      groups: [...(groups.get(row.subjectId) ?? [])],
      // Written by this folder, which takes an object.
      attributes: JSON.parse(row.attributes) as Record<string, unknown>,
      embeddingCount: counts.get(row.subjectId) ?? 0,
      ...(show.faces && { faces: await faceDetailsOf(reading, row.subjectId, calibrations) }),
      createdAtUtc: row.createdAtUtc,
      updatedAtUtc: row.updatedAtUtc,
      expiresAtUtc: row.expiresAtUtc,
    }))
  }
}

async function faceDetailsOf(
  reading: ReadTx,
  subjectId: string,
  calibrations: Calibrations,
): Promise<FaceDetails[]> {
  const byFace = Map.groupBy(await findSubjectTemplates(reading, subjectId), ({ faceId }) => faceId)
  return (await rowsOf(reading, subjectId)).map(({ faceId, qualityScore, createdAtUtc }) => {
    const { modelId = '' } = selectTemplate(byFace.get(faceId) ?? [], calibrations) ?? {}
    return { faceId, qualityScore, modelId, createdAtUtc }
  })
}
