import { parseArgs } from 'node:util'
import { readChosenSet } from '../../models/active.ts'
import { recognizerId } from '../../models/recognizer-id.ts'
import { progressOf, templateCountsByModel } from '../../store/model-counts.ts'
import type { ModelProgress } from '../../store/model-counts.ts'
import { columns, print, withStore } from '../admin.ts'
import { modelsFolder } from './folder.ts'

/** How far the galleries have come to templates of the chosen recognizer. */
type Status = ModelProgress & {
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

async function readStatus(): Promise<Status> {
  const set = await readChosenSet(modelsFolder())
  const activeModelId = await recognizerId(set.recognizer)
  const former = new Set(await Promise.all(set.formerRecognizers.map(recognizerId)))
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
      return { activeModelId, ...(await progressOf(reading, activeModelId)), models }
    }),
  )
}

function text(said: Status): string {
  const table = columns(
    ['model', 'templates', ''],
    said.models.map(({ modelId, templates, use }) => [modelId, String(templates), use]),
  )
  return `${table}

faces with a template of ${said.activeModelId}: ${said.comparableFaces}
faces it can be made for, of a stored crop: ${said.remakeableFaces}
faces that wait for an enrolment or a verification: ${said.waitingFaces}
subjects without any such template: ${said.notComparableSubjects}`
}
