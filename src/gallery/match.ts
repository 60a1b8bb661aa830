import { mapSequential } from '../lib/map-sequential.ts'
import type { SubjectRow } from '../store/schema.ts'
import { findSubjectTemplates, type StoredTemplate } from '../store/gallery/templates.ts'
import type { ReadTx } from '../store/tx.ts'
import type { Template } from '../vision/image-analysis.ts'
import type { Calibrations } from './calibration/calibrations.ts'
import type { DecryptStoredTemplate } from './keys/decrypt-stored-template.ts'
import { selectTemplate } from './select-template.ts'
import { scoreOf, similarityOf } from './calibration/similarity.ts'

/** How alike two faces are: calibrated, and as measured by one model. */
export type MatchScore = {
  readonly similarity: number
  readonly score: number
  /** The model whose templates were compared. */
  readonly modelId: string
}
export type FaceMatchScore = MatchScore & { readonly faceId: string }

/** @throws Error when the model of `a` is not loaded; AssertionError when `b` is of another one. */
export function matchTemplates(a: Template, b: Template, calibrations: Calibrations): MatchScore {
  const calibration = calibrations.of(a.modelId)
  if (!calibration) throw new Error(`no table says what scores of ${a.modelId} mean`)
  const similarity = similarityOf(a, b, calibration)
  return { similarity, score: scoreOf(a, b), modelId: a.modelId }
}

export type MatchOptions = {
  readonly decryptStored: DecryptStoredTemplate
  readonly calibrations: Calibrations
}

/**
 * The face of a subject that is most like the probe; undefined when none compares.
 *
 * @param probes the same probe as each model describes it: each face is compared by one model.
 */
export async function matchSubject(
  reading: ReadTx,
  subject: SubjectRow,
  probes: readonly Template[],
  { decryptStored: openStored, calibrations }: MatchOptions,
): Promise<FaceMatchScore | undefined> {
  const faces = await selectedTemplatesOf(reading, subject.subjectId, calibrations)
  const likenesses = await mapSequential(faces, (stored) =>
    matchStoredTemplate(reading, stored, probes, { decryptStored: openStored, calibrations }),
  )
  return likenesses.flat().toSorted((a, b) => b.similarity - a.similarity || b.score - a.score)[0]
}

/** None when no probe is of the stored template's model, or it does not open. */
export async function matchStoredTemplate(
  reading: ReadTx,
  stored: StoredTemplate,
  probes: readonly Template[],
  { decryptStored: openStored, calibrations }: MatchOptions,
): Promise<FaceMatchScore[]> {
  const probe = probes.find(({ modelId }) => modelId === stored.modelId)
  const opened = probe && (await openStored(reading, stored))
  if (!opened) return []
  return [{ faceId: stored.faceId, ...matchTemplates(probe, opened, calibrations) }]
}

/** The models that a subject's faces are to be compared by. */
export async function modelsOfSubject(
  reading: ReadTx,
  subjectId: string,
  calibrations: Calibrations,
): Promise<readonly string[]> {
  const stored = await selectedTemplatesOf(reading, subjectId, calibrations)
  return [...new Set(stored.map(({ modelId }) => modelId))]
}

async function selectedTemplatesOf(reading: ReadTx, subjectId: string, calibrations: Calibrations) {
  const byFace = Map.groupBy(await findSubjectTemplates(reading, subjectId), ({ faceId }) => faceId)
  return [...byFace.values()].flatMap((templates) => selectTemplate(templates, calibrations) ?? [])
}
