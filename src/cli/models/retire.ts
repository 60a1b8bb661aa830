import { parseArgs } from 'node:util'
import { readChosenSet, writeModelSet } from '../../models/active.ts'
import type { ModelSet } from '../../models/pack.ts'
import { recognizerId } from '../../models/recognizer-id.ts'
import { countDependent, countTemplates, retireTemplates } from '../../store/retire.ts'
import { print, withStore } from '../admin.ts'
import { UsageError } from '../command.ts'
import { progressBar } from '../progress.ts'
import { modelsFolder } from './folder.ts'

/** Deletes the templates of a former model once nobody needs them, and stops loading it. */
export async function retire(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { confirm: { type: 'string' }, json: { type: 'boolean', default: false } },
  })
  const [modelId, ...rest] = positionals
  if (modelId === undefined || rest.length > 0)
    throw new UsageError('name one model, as status does: id@version')
  if (values.confirm !== modelId)
    throw new UsageError(`this deletes templates for ever; say so with --confirm ${modelId}`)
  const folder = modelsFolder()
  const set = await readChosenSet(folder)
  const activeModelId = await recognizerId(set.recognizer)
  if (modelId === activeModelId) throw new Error(`${modelId} is the active model`)
  const templatesDeleted = await deleteTemplates(modelId, activeModelId)
  await forget(folder, set, modelId)
  print({ modelId, templatesDeleted }, values.json, () =>
    [
      `${templatesDeleted} templates of ${modelId} were deleted`,
      'The model is not loaded any more from the next start of the service.',
    ].join('\n'),
  )
}

async function deleteTemplates(modelId: string, activeModelId: string): Promise<number> {
  const bar = progressBar('templates')
  return withStore(async (store) => {
    const which = { modelId, activeModelId }
    const [all, dependent] = await store.read((reading) => [
      countTemplates(reading, modelId),
      countDependent(reading, which),
    ])
    if (all === 0) return 0
    if (dependent > 0)
      throw new Error(
        `${dependent} faces have no template of ${activeModelId} yet and would be lost; see facegate models status`,
      )
    const count = await retireTemplates(store, { ...which, onProgress: bar.update })
    bar.end()
    return count
  })
}

async function forget(folder: string, set: ModelSet, modelId: string): Promise<void> {
  const kept: ModelSet['formerRecognizers'][number][] = []
  for (const former of set.formerRecognizers)
    if ((await recognizerId(former)) !== modelId) kept.push(former)
  if (kept.length < set.formerRecognizers.length)
    await writeModelSet(folder, { ...set, formerRecognizers: kept })
}
