import type { SubjectRow } from '../store/gallery-schema.ts'
import type { ReadTx } from '../store/tx.ts'
import {
  countComparable,
  type ComparableCounts,
  type CountComparableOptions,
} from './count-comparable.ts'
import { modelsOfSubject } from './match.ts'

/** The models by which the faces of a subject are compared. */
export type SubjectModels = { readonly former: readonly string[]; readonly hasActive: boolean }

type ModelOperations = {
  readonly formerModels: (galleryId: string) => Promise<readonly string[]>
  readonly modelsOf: (
    reading: ReadTx,
    subject: Pick<SubjectRow, 'subjectId'>,
  ) => Promise<SubjectModels>
  readonly countComparable: (
    galleryId: string,
    modelIds: readonly string[],
  ) => Promise<ComparableCounts>
}

/** The operations of a gallery that decide by which models its faces are compared. */
export function modelOperations(options: CountComparableOptions): ModelOperations {
  const { search, calibrations } = options
  const { activeModelId, formerModelIds } = calibrations
  return {
    formerModels: async (galleryId) => {
      if (formerModelIds.length === 0) return []
      const { byModel } = await search.countFaces(galleryId, formerModelIds)
      return formerModelIds.filter((_, index) => (byModel[index] ?? 0) > 0)
    },
    modelsOf: async (reading, { subjectId }) => {
      const used = await modelsOfSubject(reading, subjectId, calibrations)
      const former = formerModelIds.filter((modelId) => used.includes(modelId))
      return { former, hasActive: used.includes(activeModelId) }
    },
    countComparable: (galleryId, modelIds) => countComparable(galleryId, modelIds, options),
  }
}
