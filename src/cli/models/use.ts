import { readActiveSet, writeActiveSet } from '../../models/active-set.ts'
import { describeCoverage, selectModels, type SelectableModel } from '../../models/select-models.ts'
import { isRecognizerDecoding } from '../../models/decoding.ts'
import { checkModelFiles, findPack, modelRefOf } from '../../models/installed-packs.ts'
import {
  builtinSet,
  type InstalledModel,
  installedModelsOf,
  parseModelRef,
  type ModelSet,
  recognizerModelId,
} from '../../models/model-set.ts'
import { requireLicences } from '../../models/require-licences.ts'
import { readRecognizerCalibration } from '../../start/active-models.ts'
import { auditedFileChange } from '../audit/audited-change.ts'
import { type CommandValues, print } from '../command.ts'
import { modelsFolder, readSettings } from '../read-settings.ts'
import { countNotComparable } from '../../store/gallery/model-coverage.ts'
import { hasDatabase, withStore } from '../with-store.ts'

type UseValues = CommandValues<'pack'> & { readonly role: SelectableModel['role'] | undefined }

/** @param values.pack `pack`, `pack/model` or `builtin`; `builtin+` before a pack uses both recognizers. */
export async function use({ pack, role, json }: UseValues): Promise<void> {
  const { chosen, messages } = await usePack(modelsFolder(), pack, role)
  print(chosen, json, () => messages.join('\n'))
}

/**
 * Selects the models of a pack, or one model, for the next start of the service.
 *
 * @param role the only role to change.
 * @returns the selected models by name, and messages for the user.
 * @throws Error when MODEL_LICENCES refuses one of them, or a file would prevent the next start.
 */
export async function usePack(folder: string, name: string, role?: SelectableModel['role']) {
  const reading = readActiveSet(folder)
  // A return to the built-in models must work even when the selection cannot be read.
  const before = await (name === 'builtin' ? reading.catch(() => builtinSet) : reading)
  const selectable = await listSelectable(folder, name)
  const selected = selectModels(before, selectable, { name, role })
  const after = name === 'builtin' ? await removeBrokenRecognizers(selected) : selected
  if (name !== 'builtin') for (const model of installedModelsOf(after)) await requireUsable(model)
  await requireLicences(readSettings(), folder, after, before)
  const chosen = namesOf(after)
  const entry = { auditAction: 'models.use', target: name, detail: chosen }
  await auditedFileChange(entry, () => writeActiveSet(folder, after))
  const lines = Object.entries(chosen)
    .filter(([, names]) => names.length > 0)
    .map(([modelRole, names]) => `${modelRole}: ${[names].flat().join(', ')}`)
  const isOther = namesOf(before).recognizer !== chosen.recognizer
  const limit = describeCoverage(after.recognizer)
  const count = isOther ? await countNotComparableSubjects(after) : undefined
  const subjects = count === undefined ? 'Existing subjects have' : `${count} subjects have`
  const note = `${subjects} no template of the new recognizer yet; they are matched with the former one.`
  return {
    chosen: { ...chosen, ...(count !== undefined && { subjectsNotComparable: count }) },
    messages: [
      ...lines,
      ...(isOther ? [note] : []),
      ...(isOther && limit !== undefined ? [limit] : []),
      'The service uses these models after the next restart.',
    ],
  }
}

/** @throws Error that names the missing, altered or invalid file of the model, and the remedy. */
async function requireUsable(model: InstalledModel): Promise<void> {
  await checkModelFiles(model)
  if (isRecognizerDecoding(model.model.decoding)) await readRecognizerCalibration(model)
}

/** A former recognizer that cannot be loaded would prevent the start of the service. */
async function removeBrokenRecognizers(set: ModelSet): Promise<ModelSet> {
  const remaining: ModelSet['formerRecognizers'][number][] = []
  for (const model of set.formerRecognizers)
    try {
      if (model !== 'builtin') await requireUsable(model)
      remaining.push(model)
    } catch {
      const name = modelRefOf(model)
      console.error(`WARNING: the model ${name} is broken: its templates cannot be compared`)
    }
  return { ...set, formerRecognizers: remaining }
}

async function listSelectable(folder: string, ref: string): Promise<readonly SelectableModel[]> {
  if (ref === 'builtin')
    return (['detector', 'recognizer', 'liveness'] as const).map((role) => ({
      role,
      model: 'builtin',
    }))
  const { name, toModel } = parseModelRef(ref)
  const [packName = '', id] = name.split('/')
  const pack = await findPack(folder, packName)
  if (!pack)
    throw new Error(`the pack ${packName} is not installed: facegate models install ${packName}`)
  const models = pack.manifest.models.filter((model) => id === undefined || model.id === id)
  if (models.length === 0) throw new Error(`the pack ${packName} has no model ${id}`)
  if (name !== ref && !models.some((model) => model.role === 'recognizer'))
    throw new Error(`${name} has no recognizer to use together with the built-in one`)
  return models.map((model) => ({
    role: model.role,
    model: toModel({ folder: pack.folder, model }),
  }))
}

function namesOf(set: ModelSet) {
  return {
    detector: modelRefOf(set.detector),
    recognizer: modelRefOf(set.recognizer),
    liveness: set.liveness === 'builtin' ? [set.liveness] : set.liveness.map(modelRefOf),
    formerRecognizers: set.formerRecognizers.map(modelRefOf),
  }
}

/** Counts the subjects without a template of the set's recognizer; undefined without a database. */
async function countNotComparableSubjects({ recognizer }: ModelSet): Promise<number | undefined> {
  if (!hasDatabase(readSettings())) return undefined
  const modelId = recognizerModelId(recognizer)
  return withStore((store) => store.read((reading) => countNotComparable(reading, modelId)))
}
