import { formatUtc } from '../../lib/clock.ts'
import type { Store } from '../../store/database.ts'
import { findDistinctSubjects } from '../../store/gallery/duplicates/distinct-subjects.ts'
import { createCalibrations, openGalleryCalibrations } from '../calibration/calibrations.ts'
import { readGallery } from '../calibration/read-templates.ts'
import type { Calibration } from '../calibration/similarity.ts'
import { checkGallery, type GalleryHealth } from './check-gallery.ts'

export type StoredGalleryCheck = {
  readonly galleryId: string
  /** The table of the active model. */
  readonly shipped: Calibration
  readonly masterKeyFile: string
  readonly onTemplates: (done: number, total: number) => void
  readonly onProgress: (done: number, total: number) => void
}

/** Reads a gallery and checks it with the calibration that its searches use. */
export async function checkStoredGallery(
  store: Store,
  { galleryId, shipped, masterKeyFile, onTemplates, onProgress }: StoredGalleryCheck,
): Promise<GalleryHealth> {
  const nowMs = (store.timeOfDay ?? Date.now)()
  const { modelId } = shipped
  const calibrations = createCalibrations(shipped)
  const log = { error: () => undefined }
  const tables = await openGalleryCalibrations({ store, calibrations, log })
  const distinct = await store.read((reading) => findDistinctSubjects(reading, galleryId))
  const confirmed = new Set(distinct.map(({ subjectId, otherId }) => `${subjectId} ${otherId}`))
  const filter = { galleryId, modelId, nowUtc: formatUtc(nowMs) }
  const templates = await readGallery(filter, { store, masterKeyFile, onProgress: onTemplates })
  return checkGallery(templates, {
    galleryId,
    calibration: tables.of(galleryId).of(modelId) ?? shipped,
    nowMs,
    isDistinct: (a, b) => confirmed.has(`${a} ${b}`) || confirmed.has(`${b} ${a}`),
    onProgress,
  })
}

/** Subjects that a page shows. The command line prints all. */
const shownMax = 1_000

/** Returns the subjects with an issue, at most 1,000, the most urgent first. */
export function onlyUrgent(health: GalleryHealth): GalleryHealth {
  const results = health.results.filter(({ issues }) => issues.length > 0).slice(0, shownMax)
  return { ...health, results }
}
