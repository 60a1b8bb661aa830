import { isCalibrated } from './is-calibrated.ts'
import type { InstalledModel, ModelSet, PackModel } from './pack-manifest.ts'

/** A model for a role. */
export type SelectableModel = {
  readonly role: PackModel['role']
  readonly model: 'builtin' | InstalledModel
}

/**
 * `set` with other models: those of `choosables`, for their roles or for `role` alone. Networks of
 * liveness are taken together. A recognizer that gives way is kept for the templates that it made.
 *
 * @throws Error when there is nothing for the role, or more than one that would have to do alone.
 */
export function selectModels(
  set: ModelSet,
  choosables: readonly SelectableModel[],
  { wanted, role }: { readonly wanted: string; readonly role?: PackModel['role'] | undefined },
): ModelSet {
  const fitting = choosables.filter((each) => role === undefined || each.role === role)
  if (fitting.length === 0) throw new Error(`${wanted} has no ${role}`)
  const only = (one: PackModel['role']): SelectableModel['model'] | undefined => {
    const [first, ...others] = fitting.filter((each) => each.role === one)
    if (others.length > 0)
      throw new Error(`${wanted} has several of the role ${one}: name one model`)
    return first?.model
  }
  const recognizer = only('recognizer') ?? set.recognizer
  const formerRecognizers = formerRecognizersOf(set, recognizer)
  assertCalibrated(recognizer)
  assertDistinctModelId(recognizer, formerRecognizers)
  return {
    detector: only('detector') ?? set.detector,
    recognizer,
    liveness: selectLiveness(fitting) ?? set.liveness,
    formerRecognizers,
  }
}

function selectLiveness(fitting: readonly SelectableModel[]): ModelSet['liveness'] | undefined {
  const models = fitting.filter(({ role }) => role === 'liveness').map(({ model }) => model)
  const [first, ...others] = models.filter((model) => model !== 'builtin')
  if (first) return [first, ...others]
  return models.length > 0 ? 'builtin' : undefined
}

function formerRecognizersOf(
  set: ModelSet,
  recognizer: ModelSet['recognizer'],
): ModelSet['formerRecognizers'] {
  const isSame = (a: ModelSet['recognizer'], b: ModelSet['recognizer']): boolean =>
    a === b ||
    (a !== 'builtin' && b !== 'builtin' && a.folder === b.folder && a.model.id === b.model.id)
  const kept = [set.recognizer, ...set.formerRecognizers]
  return kept.filter(
    (model, at) =>
      !isSame(model, recognizer) && kept.findIndex((other) => isSame(other, model)) === at,
  )
}

/** Scores without a table mean nothing: the service would refuse to start. */
function assertCalibrated(recognizer: ModelSet['recognizer']): void {
  if (recognizer === 'builtin' || isCalibrated(recognizer)) return
  throw new Error(
    `${recognizer.model.id} has no table of similarities yet: docs/recognition/model-packs.md says how to make one`,
  )
}

/** Templates remember `id@version`: two networks of one such name would be mixed up. */
function assertDistinctModelId(
  recognizer: ModelSet['recognizer'],
  others: ModelSet['formerRecognizers'],
): void {
  if (recognizer === 'builtin') return
  const { id, version } = recognizer.model
  const twin = others.some(
    (other) => other !== 'builtin' && other.model.id === id && other.model.version === version,
  )
  if (twin) throw new Error(`old templates are called ${id}@${version} too: raise the version`)
}
