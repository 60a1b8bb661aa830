import type { SubjectRow } from '../store/gallery-schema.ts'
import type { ReadTx } from '../store/tx.ts'
import {
  countComparable,
  type ComparableCounts,
  type CountComparableOptions,
} from './count-comparable.ts'
import type { DensityUpdates } from './densities/update-densities.ts'
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

type ModelOperationsOptions = CountComparableOptions & { readonly densities: DensityUpdates }

/** The operations of a gallery that decide by which models its faces are compared. */
export function modelOperations(options: ModelOperationsOptions): ModelOperations {
  const { search, calibrations, densities } = options
  const { activeModelId } = calibrations
  return {
    formerModels: async (galleryId) => {
      const formerModelIds = densities.withoutUpdated(calibrations.formerModelIds)
      if (formerModelIds.length === 0) return []
      const { byModel } = await search.countFaces(galleryId, formerModelIds)
      const used = formerModelIds.filter((_, index) => (byModel[index] ?? 0) > 0)
      const modelIds = densities.withSuccessors(used)
      return formerModelIds.filter((modelId) => modelIds.has(modelId))
    },
    modelsOf: async (reading, { subjectId }) => {
      const used = await modelsOfSubject(reading, subjectId, calibrations)
      const modelIds = densities.withSuccessors(used)
      const former = calibrations.formerModelIds.filter((modelId) => modelIds.has(modelId))
      return { former, hasActive: modelIds.has(activeModelId) }
    },
    countComparable: (galleryId, modelIds) => countComparable(galleryId, modelIds, options),
  }
}
