import { parseCalibration } from '../../gallery/calibration/read-calibration.ts'
import { readActiveSet } from '../../models/active-set.ts'
import { recognizerModelId } from '../../models/model-set.ts'
import type { Store } from '../../store/database.ts'
import { findGalleryCalibrations } from '../../store/gallery/calibration/applied-calibrations.ts'
import type { GalleryCalibrationRow } from '../../store/gallery-schema.ts'
import { galleryIdOf, type Project } from '../../store/tenancy/projects.ts'
import { formatRows, print } from '../command.ts'
import { modelsFolder } from '../read-settings.ts'

type ShownTable = Omit<GalleryCalibrationRow, 'definition'> & {
  /** How the rates were measured. */
  readonly method: string
  readonly state: TableState
}

/** `other model`: the table is kept, but it has no effect on templates of the active model. */
type TableState = 'in use' | 'other model' | 'ended'

/** Prints the tables of a gallery, the newest first. */
export async function showTables(store: Store, project: Project, json: boolean): Promise<void> {
  const galleryId = galleryIdOf(project)
  const { recognizer } = await readActiveSet(modelsFolder())
  const activeModelId = await recognizerModelId(recognizer)
  const rows = await store.read((reading) => findGalleryCalibrations(reading, galleryId))
  const tables = rows.map(({ definition, ...row }): ShownTable => ({
    ...row,
    method: methodOf(definition),
    state: stateOf(row, activeModelId),
  }))
  const inUse = tables.some(({ state }) => state === 'in use') ? 'gallery' : 'model'
  print({ galleryId, activeModelId, calibration: inUse, tables }, json, () =>
    [
      inUse === 'gallery'
        ? `the gallery uses its table for ${activeModelId}`
        : `the gallery uses the table of the model ${activeModelId}`,
      ...(tables.length > 0 ? [formatTables(tables)] : []),
    ].join('\n'),
  )
}

function methodOf(definition: string): string {
  return parseCalibration(definition, 'the stored table').method
}

function stateOf(
  { endedAtUtc, modelId }: Pick<GalleryCalibrationRow, 'endedAtUtc' | 'modelId'>,
  activeModelId: string,
): TableState {
  if (endedAtUtc !== null) return 'ended'
  return modelId === activeModelId ? 'in use' : 'other model'
}

function formatTables(tables: readonly ShownTable[]): string {
  return formatRows(tables, {
    state: 'state',
    model: 'modelId',
    subjects: 'subjects',
    pairs: 'pairs',
    applied: 'appliedAtUtc',
    by: 'appliedBy',
    ended: 'endedAtUtc',
    'ended by': 'endedBy',
  })
}
