import { parseArgs } from 'node:util'
import { readActiveSet, writeActiveSet } from '../../models/active-set.ts'
import { selectModels, type SelectableModel } from '../../models/select-models.ts'
import { checkModelFiles, findPack, modelRefOf } from '../../models/installed-packs.ts'
import { builtinSet, type ModelSet } from '../../models/model-set.ts'
import { print } from '../with-store.ts'
import { UsageError } from '../command.ts'
import { modelsFolder } from './models-folder.ts'
import { countNotComparableSubjects } from './count-not-comparable.ts'

export async function use(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { role: { type: 'string' }, json: { type: 'boolean', default: false } },
  })
  const [wanted, ...rest] = positionals
  if (wanted === undefined || rest.length > 0) throw new UsageError('name one pack or pack/model')
  const { role } = values
  if (role !== undefined && role !== 'detector' && role !== 'recognizer' && role !== 'liveness')
    throw new UsageError(`--role is detector, recognizer or liveness, not ${role}`)
  const { chosen, says } = await usePack(modelsFolder(), wanted, { role })
  print(chosen, values.json, () => says.join('\n'))
}

type UsePackOptions = {
  /** The only role to change. */
  readonly role?: SelectableModel['role'] | undefined
  /** How many subjects have no template of the chosen recognizer; undefined where there are none. */
  readonly countNotComparable?: (set: ModelSet) => Promise<number | undefined>
}

/**
 * Chooses the models of a pack, or one model, for the next start of the service.
 *
 * @returns the choice, by names, and what the user should know of it.
 */
export async function usePack(
  folder: string,
  wanted: string,
  { role, countNotComparable = countNotComparableSubjects }: UsePackOptions = {},
) {
  const before = await readSet(folder, wanted)
  const choice = selectModels(before, await listChoosable(folder, wanted), { name: wanted, role })
  const after = wanted === 'builtin' ? await removeBrokenRecognizers(choice) : choice
  await writeActiveSet(folder, after)
  const chosen = namesOf(after)
  const lines = Object.entries(chosen)
    .filter(([, names]) => names.length > 0)
    .map(([what, names]) => `${what}: ${[names].flat().join(', ')}`)
  const isOther = namesOf(before).recognizer !== chosen.recognizer
  const count = isOther ? await countNotComparable(after) : undefined
  return {
    chosen: { ...chosen, ...(count !== undefined && { subjectsNotComparable: count }) },
    says: [
      ...lines,
      ...(isOther ? recognizerChangeMessages(count) : []),
      'This counts from the next start of the service.',
    ],
  }
}

/** The way back to the built-in models must be open when the choice cannot be read. */
async function readSet(folder: string, wanted: string): Promise<ModelSet> {
  if (wanted !== 'builtin') return readActiveSet(folder)
  return readActiveSet(folder).catch(() => builtinSet)
}

/** A former recognizer whose file is gone or altered would keep the service from starting. */
async function removeBrokenRecognizers(set: ModelSet): Promise<ModelSet> {
  const kept: ModelSet['formerRecognizers'][number][] = []
  for (const model of set.formerRecognizers) {
    const isWhole =
      model === 'builtin' ||
      (await checkModelFiles(model).then(
        () => true,
        () => false,
      ))
    if (isWhole) kept.push(model)
    else
      console.error(`WARNING: nobody is found by templates of ${modelRefOf(model)}: it is broken`)
  }
  return { ...set, formerRecognizers: kept }
}

async function listChoosable(folder: string, wanted: string): Promise<readonly SelectableModel[]> {
  if (wanted === 'builtin')
    return (['detector', 'recognizer', 'liveness'] as const).map((role) => ({
      role,
      model: 'builtin',
    }))
  const [name = '', id] = wanted.split('/')
  const pack = await findPack(folder, name)
  if (!pack) throw new Error(`the pack ${name} is not installed: facegate models install ${name}`)
  const models = pack.manifest.models.filter((model) => id === undefined || model.id === id)
  if (models.length === 0) throw new Error(`the pack ${name} has no model ${id}`)
  return models.map((model) => ({ role: model.role, model: { folder: pack.folder, model } }))
}

function namesOf(set: ModelSet) {
  const name = (model: ModelSet['detector']): string =>
    model === 'builtin' ? model : modelRefOf(model)
  return {
    detector: name(set.detector),
    recognizer: name(set.recognizer),
    liveness: set.liveness === 'builtin' ? [set.liveness] : set.liveness.map(name),
    formerRecognizers: set.formerRecognizers.map(name),
  }
}

function recognizerChangeMessages(count: number | undefined): readonly string[] {
  const many = count === undefined ? 'Subjects enrolled so far have' : `${count} subjects have`
  return [`${many} no template of the new recognizer yet; the former one is kept to find them by.`]
}
