import { modelRefOf } from './installed-packs.ts'
import { isCalibrated, recognizerModelId, type InstalledModel, type ModelSet } from './model-set.ts'
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
  // Without a similarity table the scores have no meaning, and the service would refuse to start.
  if (recognizer !== 'builtin' && !isCalibrated(recognizer))
    throw new Error(describeUncalibrated(recognizer))
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

function formerRecognizersOf(set: ModelSet, recognizer: ModelSet['recognizer']) {
  const models = [set.recognizer, ...set.formerRecognizers]
  const byRef = new Map(models.map((model) => [modelRefOf(model), model]))
  byRef.delete(modelRefOf(recognizer))
  return [...byRef.values()]
}

/** Returns what a recognizer without a similarity table lacks, and the command that creates it. */
export function describeUncalibrated(recognizer: InstalledModel): string {
  const options = `--models ${modelRefOf(recognizer)} --calibrate ${recognizer.folder}`
  return (
    `${modelRefOf(recognizer)} has no similarity table yet; create it from a folder with one folder ` +
    `of pictures per person: facegate evaluate verification <folder of people> ${options}`
  )
}

/** Returns the limit of a recognizer whose cohort represents only the pictures of its calibration. */
export function describeCoverage(recognizer: ModelSet['recognizer']): string | undefined {
  if (recognizer === 'builtin' || requireRecognizerDecoding(recognizer.model).cohort?.origin)
    return undefined
  return (
    `The similarities of ${recognizerModelId(recognizer)} hold only for pictures like those of its ` +
    'calibration. Before access control, measure each gallery with facegate calibrate.'
  )
}

/** Templates store `id@version`: two networks with one such name would be confused. */
function assertDistinctModelId(
  recognizer: ModelSet['recognizer'],
  others: ModelSet['formerRecognizers'],
): void {
  const modelId = recognizerModelId(recognizer)
  if (others.some((other) => recognizerModelId(other) === modelId))
    throw new Error(`stored templates of another network use ${modelId}: raise the version`)
}
