import { readSettings } from '../read-settings.ts'
import { type ModelSet, recognizerModelId } from '../../models/model-set.ts'
import { countNotComparable } from '../../store/gallery/model-coverage.ts'
import { hasDatabase, withStore } from '../with-store.ts'

/** Counts the subjects without a template of the set's recognizer; undefined without a database. */
export async function countNotComparableSubjects({
  recognizer,
}: Pick<ModelSet, 'recognizer'>): Promise<number | undefined> {
  if (!hasDatabase(readSettings())) return undefined
  const modelId = await recognizerModelId(recognizer)
  return withStore((store) => store.read((reading) => countNotComparable(reading, modelId)))
}
