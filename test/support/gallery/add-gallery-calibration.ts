import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Store } from '../../../src/store/database.ts'
import { addCalibration } from '../../../src/store/gallery/calibration/applied-calibrations.ts'
import { fakeCalibrations } from './fake-vision.ts'

/** Applies a table to a gallery: the scores of the fake model's table, each 0.1 higher. */
export async function addGalleryCalibration(
  store: Pick<Store, 'write'>,
  galleryId: string,
  modelId: string,
): Promise<void> {
  const shipped = fakeCalibrations({ active: modelId }).of(modelId)
  assert.ok(shipped)
  const points = shipped.points.map((point) => ({ ...point, score: point.score + 0.1 }))
  await store.write((tx) =>
    addCalibration(tx, {
      calibrationId: randomUUID(),
      galleryId,
      modelId,
      subjects: 200,
      pairs: 19_900,
      definition: JSON.stringify({ ...shipped, points, populations: undefined }),
      appliedAtUtc: new Date().toISOString(),
      appliedBy: 'Olga',
    }),
  )
}
