import { readActiveSet } from '../../models/active-set.ts'
import { recognizerModelId } from '../../models/model-set.ts'
import { describeCoverage } from '../../models/select-models.ts'
import { findModelCoverage, templateCountsByModel } from '../../store/gallery/model-coverage.ts'
import { formatRows, print } from '../command.ts'
import { modelsFolder } from '../read-settings.ts'
import { withStore } from '../with-store.ts'

export async function status({ json }: { readonly json: boolean }): Promise<void> {
  const result = await readStatus()
  print(result, json, () => toText(result))
}

/** Returns how many faces and subjects have templates of the selected recognizer. */
async function readStatus() {
  const set = await readActiveSet(modelsFolder())
  const activeModelId = recognizerModelId(set.recognizer)
  // The limit of the similarities of the active recognizer, if there is one.
  const limit = describeCoverage(set.recognizer)
  const former = new Set(set.formerRecognizers.map(recognizerModelId))
  // After the next restart.
  const useOf = (modelId: string) => {
    if (modelId === activeModelId) return 'active'
    return former.has(modelId) ? 'former' : 'not loaded'
  }
  return withStore((store) =>
    store.read(async (reading) => {
      const counts = new Map([[activeModelId, 0], ...(await templateCountsByModel(reading))])
      const models = [...counts].map(([modelId, templates]) => ({
        modelId,
        templates,
        use: useOf(modelId),
      }))
      const coverage = await findModelCoverage(reading, activeModelId)
      return { activeModelId, ...coverage, models, limit }
    }),
  )
}

function toText(status: Awaited<ReturnType<typeof readStatus>>): string {
  const table = formatRows(status.models, { model: 'modelId', templates: 'templates', '': 'use' })
  return `${table}

faces with a template of ${status.activeModelId}: ${status.comparableFaces}
faces without one that have a stored crop: ${status.remakeableFaces}
faces without one that need an enrollment or a verification: ${status.waitingFaces}
subjects without any template of it: ${status.notComparableSubjects}${
    status.limit === undefined ? '' : `\n\n${status.limit}`
  }`
}
