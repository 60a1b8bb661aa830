import type { Store } from '../../../store/database.ts'
import { findSubjectGroups, listGroups } from '../../../store/gallery/groups.ts'
import { findRangeTemplates, type FaceRange } from '../../../store/gallery/search/face-ranges.ts'
import type { StoredTemplate } from '../../../store/gallery/templates.ts'
import type { ReadTx } from '../../../store/tx.ts'
import type { Calibrations } from '../../calibration/calibrations.ts'
import type { DecryptStoredTemplate } from '../../keys/decrypt-stored-template.ts'
import { selectTemplate } from '../../select-template.ts'
import type { LoadedTemplate } from './packed-rows.ts'

export type ReadRangeDeps = {
  readonly store: Pick<Store, 'read'>
  readonly decryptStored: DecryptStoredTemplate
  readonly models: LoadedModels
}

/** The models by which faces are compared. */
export type LoadedModels = Pick<Calibrations, 'activeModelId' | 'formerModelIds'>

/** Reads the faces of a range and decrypts the template by which each is compared. */
export function readRange(
  range: FaceRange,
  { store, decryptStored, models }: ReadRangeDeps,
): Promise<readonly LoadedTemplate[]> {
  return store.read(async (reading) => {
    const selected = selectTemplates(await findRangeTemplates(reading, range), models)
    const groups = await findGroups(
      reading,
      range.galleryId,
      selected.map(({ subjectId }) => subjectId),
    )
    const templates: LoadedTemplate[] = []
    for (const stored of selected) {
      const { faceId, subjectId, expiresAtUtc } = stored
      const template = await decryptStored(reading, stored)
      if (!template) continue
      const expiresAtMs = expiresAtUtc === null ? undefined : Date.parse(expiresAtUtc)
      const { modelId, vector, density } = template
      const owner = {
        faceId,
        subjectId,
        groups: groups.get(subjectId) ?? withoutGroups,
        expiresAtMs,
      }
      templates.push({ modelId, vector, density, ...owner })
    }
    return templates
  })
}

/** Most faces have one template. */
function selectTemplates(
  rows: readonly StoredTemplate[],
  models: LoadedModels,
): readonly StoredTemplate[] {
  const faceIds = new Set(rows.map(({ faceId }) => faceId))
  if (faceIds.size === rows.length) return rows
  const byFace = Map.groupBy(rows, ({ faceId }) => faceId)
  return [...byFace.values()].flatMap((templates) => selectTemplate(templates, models) ?? [])
}

const withoutGroups: readonly string[] = []

/** Most galleries have no groups: then nothing is read for their subjects. */
async function findGroups(
  reading: ReadTx,
  galleryId: string,
  subjectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const [any] = await listGroups(reading, galleryId, { limit: 1 })
  return any ? findSubjectGroups(reading, [...new Set(subjectIds)]) : new Map()
}
