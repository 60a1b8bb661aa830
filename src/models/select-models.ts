import { modelRefOf } from './installed-packs.ts'
import { isCalibrated, type InstalledModel, type ModelSet } from './model-set.ts'
import { requireRecognizerDecoding } from './decoding.ts'
import type { PackModel } from './pack-manifest.ts'

/** A model that can be selected for a role. */
export type SelectableModel = {
  readonly role: PackModel['role']
  readonly model: 'builtin' | InstalledModel
}

/**
 * Returns `set` with the given models in their roles, or in `role` only. All liveness networks are
 * used together. A replaced recognizer becomes a former recognizer, because stored templates need it.
 *
 * @param options.name the name of the selection, for error messages.
 * @throws Error when no model has the role, or several models have a role that takes one.
 */
export function selectModels(
  set: ModelSet,
  selectable: readonly SelectableModel[],
  options: { readonly name: string; readonly role?: PackModel['role'] | undefined },
): ModelSet {
  const { name, role } = options
  const candidates = selectable.filter((each) => role === undefined || each.role === role)
  if (candidates.length === 0) throw new Error(`${name} has no ${role}`)
  const singleModelOf = (roleToFill: PackModel['role']): SelectableModel['model'] | undefined => {
    const [first, ...others] = candidates.filter((each) => each.role === roleToFill)
    if (others.length > 0)
      throw new Error(`${name} has several models of the role ${roleToFill}: name one model`)
    return first?.model
  }
  const recognizer = singleModelOf('recognizer') ?? set.recognizer
  const formerRecognizers = formerRecognizersOf(set, recognizer)
  assertCalibrated(recognizer)
  assertDistinctModelId(recognizer, formerRecognizers)
  return {
    detector: singleModelOf('detector') ?? set.detector,
    recognizer,
    liveness: selectLiveness(candidates) ?? set.liveness,
    formerRecognizers,
  }
}

function selectLiveness(candidates: readonly SelectableModel[]): ModelSet['liveness'] | undefined {
  const models = candidates.filter(({ role }) => role === 'liveness').map(({ model }) => model)
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
  const recognizers = [set.recognizer, ...set.formerRecognizers]
  return recognizers.filter(
    (model, index) =>
      !isSame(model, recognizer) &&
      recognizers.findIndex((other) => isSame(other, model)) === index,
  )
}

/** Without a similarity table the scores have no meaning, and the service would refuse to start. */
function assertCalibrated(recognizer: ModelSet['recognizer']): void {
  if (recognizer !== 'builtin' && !isCalibrated(recognizer))
    throw new Error(describeUncalibrated(recognizer))
}

/** Returns what a recognizer without a similarity table lacks, and the command that creates it. */
export function describeUncalibrated(recognizer: InstalledModel): string {
  const options = `--models ${modelRefOf(recognizer)} --calibrate ${recognizer.folder}`
  return (
    `${recognizer.model.id} has no similarity table yet; create it from a folder with one folder ` +
    `of pictures per person: facegate evaluate verification <folder of people> ${options}`
  )
}

/** Returns the limit of a recognizer whose cohort represents only the pictures of its calibration. */
export function describeCoverage(recognizer: ModelSet['recognizer']): string | undefined {
  if (recognizer === 'builtin') return undefined
  const { id, version } = recognizer.model
  return requireRecognizerDecoding(recognizer.model).cohort?.origin === undefined
    ? `The similarities of ${id}@${version} hold only for pictures like those of its calibration. ` +
        'Before access control, measure each gallery with facegate calibrate.'
    : undefined
}

/** Templates store `id@version`: two networks with one such name would be confused. */
function assertDistinctModelId(
  recognizer: ModelSet['recognizer'],
  others: ModelSet['formerRecognizers'],
): void {
  if (recognizer === 'builtin') return
  const { id, version } = recognizer.model
  const isTaken = others.some(
    (other) => other !== 'builtin' && other.model.id === id && other.model.version === version,
  )
  if (isTaken)
    throw new Error(`stored templates of another network use ${id}@${version}: raise the version`)
}
