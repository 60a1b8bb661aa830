import { parseArgs } from 'node:util'
import { readActiveSet } from '../../models/active-set.ts'
import { recognizerModelId } from '../../models/model-set.ts'
import { findModelCoverage, templateCountsByModel } from '../../store/gallery/model-coverage.ts'
import type { ModelCoverage } from '../../store/gallery/model-coverage.ts'
import { formatTable, print, withStore } from '../with-store.ts'
import { modelsFolder } from './models-folder.ts'

/** How far the galleries have come to templates of the chosen recognizer. */
type ModelStatus = ModelCoverage & {
  readonly activeModelId: string
  readonly models: readonly ModelTemplates[]
}

type ModelTemplates = {
  readonly modelId: string
  readonly templates: number
  /** What the next start does with it. */
  readonly use: 'active' | 'former' | 'not loaded'
}

export async function status(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
  })
  const said = await readStatus()
  print(said, values.json, () => text(said))
}

async function readStatus(): Promise<ModelStatus> {
  const set = await readActiveSet(modelsFolder())
  const activeModelId = await recognizerModelId(set.recognizer)
  const former = new Set(await Promise.all(set.formerRecognizers.map(recognizerModelId)))
  const useOf = (modelId: string): ModelTemplates['use'] => {
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
      return { activeModelId, ...(await findModelCoverage(reading, activeModelId)), models }
    }),
  )
}

function text(said: ModelStatus): string {
  const table = formatTable(
    ['model', 'templates', ''],
    said.models.map(({ modelId, templates, use }) => [modelId, String(templates), use]),
  )
  return `${table}

faces with a template of ${said.activeModelId}: ${said.comparableFaces}
faces it can be made for, of a stored crop: ${said.remakeableFaces}
faces that wait for an enrolment or a verification: ${said.waitingFaces}
subjects without any such template: ${said.notComparableSubjects}`
}
