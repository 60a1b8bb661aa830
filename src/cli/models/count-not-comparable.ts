import { readConfig } from '../../config.ts'
import { type ModelSet, recognizerModelId } from '../../models/model-set.ts'
import { countNotComparable } from '../../store/gallery/model-coverage.ts'
import { hasDatabase, withStore } from '../with-store.ts'

/** Subjects without a template of the set's recognizer; undefined where there is no database yet. */
export async function countNotComparableSubjects({
  recognizer,
}: Pick<ModelSet, 'recognizer'>): Promise<number | undefined> {
  if (!hasDatabase(readConfig(process.env))) return undefined
  const modelId = await recognizerModelId(recognizer)
  return withStore((store) => store.read((reading) => countNotComparable(reading, modelId)))
}
