import { formatUtc } from '../../lib/clock.ts'
import { ActionError, invalidRequest } from '../../lib/errors.ts'
import {
  addDistinctSubjects,
  removeDistinctSubjects,
  type SubjectPair,
} from '../../store/gallery/duplicates/distinct-subjects.ts'
import { findSubjectsByIds } from '../../store/gallery/subjects.ts'
import type { Tx } from '../../store/database.ts'

/** `at` in milliseconds; `by` is the name of a console user, or `command line`. */
export type DistinctDecision = {
  readonly at: number
  readonly by: string
  readonly isDistinct: boolean
}

/**
 * Remembers that two subjects are different people, or forgets it.
 *
 * @throws ActionError INVALID_REQUEST if both are one subject, SUBJECT_NOT_FOUND.
 */
export async function decideDistinct(
  tx: Tx,
  pair: SubjectPair,
  { at, by, isDistinct }: DistinctDecision,
): Promise<void> {
  const { galleryId, subjectId, otherId } = pair
  if (subjectId === otherId) throw invalidRequest('the two subjects must be different')
  if ((await findSubjectsByIds(tx, galleryId, [subjectId, otherId])).length < 2)
    throw new ActionError('SUBJECT_NOT_FOUND', 'the gallery has no subject with one of these ids')
  if (!isDistinct) return removeDistinctSubjects(tx, pair)
  await addDistinctSubjects(tx, { ...pair, decidedAtUtc: formatUtc(at), decidedBy: by })
}
