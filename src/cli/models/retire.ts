import { parseArgs } from 'node:util'
import { readActiveSet, writeActiveSet } from '../../models/active-set.ts'
import { type ModelSet, recognizerModelId } from '../../models/model-set.ts'
import { findRetirementImpact, retireTemplates } from '../../store/gallery/retire-model.ts'
import type { RetirementResult, ModelRetirement } from '../../store/gallery/retire-model.ts'
import { print, withStore } from '../with-store.ts'
import { UsageError } from '../command.ts'
import { createProgressBar } from '../progress-bar.ts'
import { modelsFolder } from './models-folder.ts'

/** Deletes the templates of a former model once nobody needs them, and stops loading it. */
export async function retire(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      confirm: { type: 'string' },
      'with-faces': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  const [modelId, ...rest] = positionals
  if (modelId === undefined || rest.length > 0)
    throw new UsageError('name one model, as status does: id@version')
  if (values.confirm !== modelId)
    throw new UsageError(`this deletes templates for ever; say so with --confirm ${modelId}`)
  const folder = modelsFolder()
  const set = await readActiveSet(folder)
  const activeModelId = await recognizerModelId(set.recognizer)
  if (modelId === activeModelId) throw new Error(`${modelId} is the active model`)
  const which = { modelId, activeModelId }
  const { templates, faces } = await deleteTemplates(which, values['with-faces'])
  await removeFormerRecognizer(folder, set, modelId)
  const said = { modelId, templatesDeleted: templates, facesDeleted: faces }
  print(said, values.json, () =>
    [
      `${templates} templates of ${modelId} were deleted, and ${faces} faces with them`,
      'The model is not loaded any more from the next start of the service.',
    ].join('\n'),
  )
}

async function deleteTemplates(
  which: ModelRetirement,
  withFaces: boolean,
): Promise<RetirementResult> {
  const { activeModelId } = which
  const bar = createProgressBar('templates')
  return withStore(async (store) => {
    const facts = await store.read((reading) => findRetirementImpact(reading, which))
    if (facts.templates === 0) return { templates: 0, faces: 0 }
    if (facts.dependentSubjects > 0)
      throw new Error(
        `${facts.dependentSubjects} subjects have no template of ${activeModelId} yet and would be lost; see facegate models status`,
      )
    if (facts.facesOfItAlone > 0 && !withFaces)
      throw new Error(
        `${facts.facesOfItAlone} faces of subjects that ${activeModelId} knows by other faces would go; say so with --with-faces`,
      )
    const retired = await retireTemplates(store, which, bar.update)
    bar.end()
    return retired
  })
}

async function removeFormerRecognizer(
  folder: string,
  set: ModelSet,
  modelId: string,
): Promise<void> {
  const kept: ModelSet['formerRecognizers'][number][] = []
  for (const former of set.formerRecognizers)
    if ((await recognizerModelId(former)) !== modelId) kept.push(former)
  if (kept.length < set.formerRecognizers.length)
    await writeActiveSet(folder, { ...set, formerRecognizers: kept })
}
