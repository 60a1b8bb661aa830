import { existsSync } from 'node:fs'
import path from 'node:path'
import { readConfig } from '../../config.ts'
import type { ModelSet } from '../../models/pack.ts'
import { recognizerId } from '../../models/recognizer-id.ts'
import { countNotComparable } from '../../store/model-counts.ts'
import { withStore } from '../admin.ts'

/** Subjects without a template of the set's recognizer; undefined where there is no database yet. */
export async function notComparableTo({
  recognizer,
}: Pick<ModelSet, 'recognizer'>): Promise<number | undefined> {
  if (!existsSync(path.join(readConfig(process.env).DATA_DIR, 'facegate.db'))) return undefined
  const modelId = await recognizerId(recognizer)
  return withStore((store) => store.read((reading) => countNotComparable(reading, modelId)))
}
