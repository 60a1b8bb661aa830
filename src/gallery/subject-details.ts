import { mapSequential } from '../lib/map-sequential.ts'
import { faceCounts, findSubjectFaces } from '../store/gallery/faces.ts'
import { findSubjectGroups } from '../store/gallery/groups.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import { findSubjectTemplates } from '../store/gallery/templates.ts'
import type { ReadTx } from '../store/tx.ts'
import type { Calibrations } from './calibration/calibrations.ts'
import { selectTemplate } from './select-template.ts'

/** A subject as responses contain it; never includes templates. */
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
  /** The model by which the face is compared. */
  readonly modelId: string
  readonly createdAtUtc: string
}

/** Returns the subjects in the order of their rows; `faces` adds the details of each face. */
export type LoadSubjectDetails = (
  reading: ReadTx,
  rows: readonly SubjectRow[],
  include?: { readonly faces: boolean },
) => Promise<SubjectDetails[]>

export function createLoadSubjectDetails(calibrations: Calibrations): LoadSubjectDetails {
  return async (reading, rows, include = { faces: false }) => {
    const subjectIds = rows.map(({ subjectId }) => subjectId)
    const groups = await findSubjectGroups(reading, subjectIds)
    const counts = await faceCounts(reading, subjectIds)
    return mapSequential(rows, async (row) => ({
      subjectId: row.subjectId,
      externalId: row.externalId,
      displayName: row.displayName,
      groups: [...(groups.get(row.subjectId) ?? [])],
      // Only this folder writes the column, and always an object.
      attributes: JSON.parse(row.attributes) as Record<string, unknown>,
      embeddingCount: counts.get(row.subjectId) ?? 0,
      ...(include.faces && { faces: await faceDetailsOf(reading, row.subjectId, calibrations) }),
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
  const faces = await findSubjectFaces(reading, subjectId)
  return faces.map(({ faceId, qualityScore, createdAtUtc }) => {
    const { modelId = '' } = selectTemplate(byFace.get(faceId) ?? [], calibrations) ?? {}
    return { faceId, qualityScore, modelId, createdAtUtc }
  })
}
