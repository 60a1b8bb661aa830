import { builtinPack } from './builtin/builtin-pack.ts'
import {
  isRecognizerDecoding,
  requireAntiSpoofDecoding,
  requireDetectorDecoding,
  requireRecognizerDecoding,
} from './decoding.ts'
import type { PackModel } from './pack-manifest.ts'
import { templateModelFiles } from './template/template-model.ts'

/** A model of an installed pack and the folder of its files. Plain data. */
export type InstalledModel = {
  readonly folder: string
  readonly model: PackModel
  /** Of a recognizer: its scores are added to those of the built-in one. */
  readonly withBuiltin?: boolean
}

/** Before the name of a recognizer that is used together with the built-in one. */
export const builtinPrefix = 'builtin+'

/** Splits a name of a pack or a model. With the prefix, `toModel` combines a recognizer. */
export function parseModelRef(ref: string) {
  const isCombined = ref.startsWith(builtinPrefix)
  const toModel = (installed: InstalledModel): InstalledModel =>
    isCombined && installed.model.role === 'recognizer' ? combineWithBuiltin(installed) : installed
  return { name: isCombined ? ref.slice(builtinPrefix.length) : ref, toModel }
}

/** Returns a recognizer for its use together with the built-in one, with its cohort and table for it. */
export function combineWithBuiltin({ folder, model }: InstalledModel): InstalledModel {
  const decoding = requireRecognizerDecoding(model)
  const { cohort, calibration } = decoding.withBuiltin ?? {}
  return {
    folder,
    model: { ...model, decoding: { ...decoding, cohort, calibration } },
    withBuiltin: true,
  }
}

/**
 * The models that the service uses: for each role the built-in models or installed ones instead. The
 * scores of several liveness networks are averaged.
 */
export type ModelSet = {
  readonly detector: 'builtin' | InstalledModel
  readonly recognizer: 'builtin' | InstalledModel
  readonly liveness: 'builtin' | readonly [InstalledModel, ...InstalledModel[]]
  /** Recognizers that created older templates. They stay loaded until no template needs them. */
  readonly formerRecognizers: readonly ('builtin' | InstalledModel)[]
}

export const builtinSet: ModelSet = {
  detector: 'builtin',
  recognizer: 'builtin',
  liveness: 'builtin',
  formerRecognizers: [],
}

/** All installed models of a set, the former recognizers included. */
export function installedModelsOf(set: ModelSet): readonly InstalledModel[] {
  const { detector, recognizer, liveness, formerRecognizers } = set
  return [
    detector,
    recognizer,
    ...(liveness === 'builtin' ? [] : liveness),
    ...formerRecognizers,
  ].filter((model) => model !== 'builtin')
}

/** Whether the recognizer has a cohort and a similarity table. The built-in recognizer has both. */
export function isCalibrated(recognizer: ModelSet['recognizer']): boolean {
  if (recognizer === 'builtin') return true
  const { decoding } = recognizer.model
  if (!isRecognizerDecoding(decoding)) return true
  return decoding.cohort !== undefined && decoding.calibration !== undefined
}

/** The `modelId` of the templates that a recognizer creates: "id@version", or two of them with a "+". */
export function recognizerModelId(recognizer: ModelSet['recognizer']): string {
  const builtinId = templateModelFiles().modelId
  if (recognizer === 'builtin') return builtinId
  const { model, withBuiltin } = recognizer
  const installedId = `${model.id}@${model.version}`
  return withBuiltin ? `${builtinId}+${installedId}` : installedId
}

/** Returns how the outputs of the detector are read. @throws Error if the model is no detector. */
export function detectorKindOf({ detector }: Pick<ModelSet, 'detector'>) {
  return detector === 'builtin' ? 'builtin' : requireDetectorDecoding(detector.model).kind
}

/** The score from which a face is live. For several networks it is the mean, as their score is. */
export function liveScoreMin({ liveness }: ModelSet): number {
  if (liveness === 'builtin') return builtinPack.models.liveness.constants.liveMin
  const minima = liveness.map(({ model }) => requireAntiSpoofDecoding(model).liveMin)
  return minima.reduce((sum, min) => sum + min, 0) / minima.length
}
