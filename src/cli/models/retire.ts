import { readActiveSet, writeActiveSet } from '../../models/active-set.ts'
import { recognizerModelId } from '../../models/model-set.ts'
import {
  findRetirementImpact,
  retireTemplates,
  type ModelRetirement,
} from '../../store/gallery/retire-model.ts'
import { requireNoFrozenAccount } from '../account/open-moves.ts'
import { auditedFileChange, createEntryHook } from '../audit/audited-change.ts'
import { type CommandValues, UsageError, print, showProgress } from '../command.ts'
import { modelsFolder } from '../read-settings.ts'
import { withStore } from '../with-store.ts'
import { quantity } from '../quantity.ts'

/**
 * Deletes the templates of a former recognizer that no subject needs, and stops loading it.
 *
 * @param values.model as id@version.
 * @throws Error when it is the active model, or neither a former recognizer nor the model of a template.
 */
export async function retire({
  model: modelId,
  ...values
}: CommandValues<'model', 'confirm'> & { readonly 'delete-faces': boolean }): Promise<void> {
  if (values.confirm !== modelId)
    throw new UsageError(`this deletes templates permanently; confirm it with --confirm ${modelId}`)
  const folder = modelsFolder()
  const set = await readActiveSet(folder)
  const activeModelId = recognizerModelId(set.recognizer)
  if (modelId === activeModelId) throw new Error(`${modelId} is the active model`)
  const retirement = { modelId, activeModelId }
  const { templates, faces } = await deleteTemplates(retirement, values['delete-faces'])
  const remaining = set.formerRecognizers.filter((model) => recognizerModelId(model) !== modelId)
  if (templates === 0 && remaining.length === set.formerRecognizers.length)
    throw new Error(
      `${modelId} is not a former recognizer and has no templates; see facegate models status`,
    )
  const removeRecognizer = async () => {
    if (remaining.length < set.formerRecognizers.length)
      await writeActiveSet(folder, { ...set, formerRecognizers: remaining })
  }
  await (templates > 0
    ? removeRecognizer()
    : auditedFileChange(entryOf(retirement), removeRecognizer))
  const result = { modelId, templatesDeleted: templates, facesDeleted: faces }
  print(result, values.json, () =>
    [
      `deleted ${quantity(templates, 'template')} of ${modelId}, and ${quantity(faces, 'face')} without other templates`,
      'The service does not load the model after the next restart.',
    ].join('\n'),
  )
}

async function deleteTemplates(retirement: ModelRetirement, mayDeleteFaces: boolean) {
  const { activeModelId } = retirement
  return withStore(async (store) => {
    const impact = await store.read((reading) => findRetirementImpact(reading, retirement))
    if (impact.templates === 0) return { templates: 0, faces: 0 }
    await requireNoFrozenAccount(store)
    if (impact.dependentSubjects > 0)
      throw new Error(
        `without a template of ${activeModelId}, ${quantity(impact.dependentSubjects, 'subject')} would be lost; see facegate models status`,
      )
    if (impact.facesWithOnlyThisModel > 0 && !mayDeleteFaces)
      throw new Error(
        `this deletes ${quantity(impact.facesWithOnlyThisModel, 'face')} without another template; allow it with --delete-faces`,
      )
    const onFirstBatch = await createEntryHook(store, entryOf(retirement, impact.templates))
    return showProgress('templates', (onProgress) =>
      retireTemplates(store, retirement, { onProgress, onFirstBatch }),
    )
  })
}

/** The entry of the audit log, in the transaction of the first deleted templates. */
function entryOf({ modelId, activeModelId }: ModelRetirement, templates = 0) {
  return { auditAction: 'models.retire', target: modelId, detail: { activeModelId, templates } }
}
