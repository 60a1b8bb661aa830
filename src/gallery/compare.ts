import { mapInTurn } from '../lib/in-turn.ts'
import type { SubjectRow } from '../store/schema.ts'
import { templatesOf, type StoredTemplate } from '../store/templates.ts'
import type { Reading } from '../store/tx.ts'
import type { Template } from '../vision/view.ts'
import type { Calibrations } from './calibrations.ts'
import type { OpenStored } from './opener.ts'
import { preferredTemplate } from './preferred.ts'
import { scoreOf, similarityOf } from './similarity.ts'

/** How alike two faces are: calibrated, and as measured by one model. */
export type Likeness = {
  readonly similarity: number
  readonly score: number
  /** The model whose templates were compared. */
  readonly modelId: string
}
export type FaceLikeness = Likeness & { readonly faceId: string }

/** @throws Error when the model of `a` is not loaded; AssertionError when `b` is of another one. */
export function likenessOf(a: Template, b: Template, calibrations: Calibrations): Likeness {
  const calibration = calibrations.of(a.modelId)
  if (!calibration) throw new Error(`no table says what scores of ${a.modelId} mean`)
  const similarity = similarityOf(a, b, calibration)
  return { similarity, score: scoreOf(a, b), modelId: a.modelId }
}

export type Comparing = { readonly openStored: OpenStored; readonly calibrations: Calibrations }

/**
 * The face of a subject that is most like the probe; undefined when none compares.
 *
 * @param probes the same probe as each model describes it: each face is compared by one model.
 */
export async function bestOfSubject(
  reading: Reading,
  subject: SubjectRow,
  probes: readonly Template[],
  { openStored, calibrations }: Comparing,
): Promise<FaceLikeness | undefined> {
  const faces = await preferredOfEach(reading, subject.subjectId, calibrations)
  const likenesses = await mapInTurn(faces, (stored) =>
    likenessToStored(reading, stored, probes, { openStored, calibrations }),
  )
  return likenesses.flat().toSorted((a, b) => b.similarity - a.similarity || b.score - a.score)[0]
}

/** None when no probe is of the stored template's model, or it does not open. */
export async function likenessToStored(
  reading: Reading,
  stored: StoredTemplate,
  probes: readonly Template[],
  { openStored, calibrations }: Comparing,
): Promise<FaceLikeness[]> {
  const probe = probes.find(({ modelId }) => modelId === stored.modelId)
  const opened = probe && (await openStored(reading, stored))
  if (!opened) return []
  return [{ faceId: stored.faceId, ...likenessOf(probe, opened, calibrations) }]
}

/** The models that a subject's faces are to be compared by. */
export async function modelsOfSubject(
  reading: Reading,
  subjectId: string,
  calibrations: Calibrations,
): Promise<readonly string[]> {
  const stored = await preferredOfEach(reading, subjectId, calibrations)
  return [...new Set(stored.map(({ modelId }) => modelId))]
}

async function preferredOfEach(reading: Reading, subjectId: string, calibrations: Calibrations) {
  const byFace = Map.groupBy(await templatesOf(reading, subjectId), ({ faceId }) => faceId)
  return [...byFace.values()].flatMap(
    (templates) => preferredTemplate(templates, calibrations) ?? [],
  )
}
