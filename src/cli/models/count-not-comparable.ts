import { readSettings } from '../read-settings.ts'
import { earlierModelIds, type ModelSet, recognizerModelId } from '../../models/model-set.ts'
import { countNotComparable } from '../../store/gallery/model-coverage.ts'
import { hasDatabase, withStore } from '../with-store.ts'

/**
 * Counts the subjects without a template of the set's recognizer, or of an earlier version that the
 * service converts to it; undefined without a database.
 */
export async function countNotComparableSubjects({
  recognizer,
}: Pick<ModelSet, 'recognizer'>): Promise<number | undefined> {
  if (!hasDatabase(readSettings())) return undefined
  const modelIds = [await recognizerModelId(recognizer), ...(await earlierModelIds(recognizer))]
  return withStore((store) => store.read((reading) => countNotComparable(reading, modelIds)))
}
