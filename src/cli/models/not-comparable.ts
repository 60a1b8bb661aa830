import { readConfig } from '../../config.ts'
import type { ModelSet } from '../../models/pack.ts'
import { recognizerId } from '../../models/recognizer-id.ts'
import { countNotComparable } from '../../store/model-counts.ts'
import { isDatabaseThere, withStore } from '../admin.ts'

/** Subjects without a template of the set's recognizer; undefined where there is no database yet. */
export async function notComparableTo({
  recognizer,
}: Pick<ModelSet, 'recognizer'>): Promise<number | undefined> {
  if (!isDatabaseThere(readConfig(process.env))) return undefined
  const modelId = await recognizerId(recognizer)
  return withStore((store) => store.read((reading) => countNotComparable(reading, modelId)))
}
