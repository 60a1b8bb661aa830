import type { SubjectRow } from '../store/schema.ts'
import { templatesOf } from '../store/templates.ts'
import type { Reading } from '../store/tx.ts'
import type { Template } from '../vision/view.ts'
import type { OpenStored } from './opener.ts'
import { scoreOf, similarityOf, type Calibration } from './similarity.ts'

/** How alike two faces are: calibrated, and as measured. */
export type Likeness = { readonly similarity: number; readonly score: number }
export type FaceLikeness = Likeness & { readonly faceId: string }

export function likenessOf(a: Template, b: Template, calibration: Calibration): Likeness {
  return { similarity: similarityOf(a, b, calibration), score: scoreOf(a, b) }
}

export type Comparing = { readonly openStored: OpenStored; readonly calibration: Calibration }

/** The template of a subject that is most like the probe; undefined when none compares. */
export function bestOfSubject(
  reading: Reading,
  subject: SubjectRow,
  probe: Template,
  { openStored, calibration }: Comparing,
): FaceLikeness | undefined {
  const { keyId, wrappedKey } = subject
  const likenesses = templatesOf(reading, subject.subjectId)
    .filter(({ modelId }) => modelId === probe.modelId)
    .flatMap((row): FaceLikeness[] => {
      const stored = openStored(reading, { ...row, keyId, wrappedKey })
      return stored ? [{ faceId: row.faceId, ...likenessOf(probe, stored, calibration) }] : []
    })
  return likenesses.toSorted((a, b) => b.score - a.score)[0]
}
