import type { z } from 'zod'
import type { Gallery } from '../../../gallery/gallery.ts'
import type { SearchHit } from '../../../gallery/search/search-across-models.ts'
import type { SubjectDetails } from '../../../gallery/subject-details.ts'
import type { Tx } from '../../../store/tx.ts'
import type { candidate } from '../../schemas/fields.ts'

export type MatchCandidate = z.input<typeof candidate>

/** The subjects of search hits, by id. A subject that was deleted since the search is missing. */
export type HitSubjects = ReadonlyMap<string, SubjectDetails>

/** Subjects per statement: a batch of images can have 20,000 hits. */
const subjectsPerQuery = 500

/** Loads the subjects of all hits of a call, with few statements. */
export async function loadHitSubjects(
  gallery: Gallery,
  tx: Tx,
  galleryId: string,
  hits: readonly SearchHit[],
): Promise<HitSubjects> {
  const subjectIds = [...new Set(hits.map(({ subjectId }) => subjectId))]
  const subjects = new Map<string, SubjectDetails>()
  for (let index = 0; index < subjectIds.length; index += subjectsPerQuery) {
    const rows = await gallery.findByIds(
      tx,
      galleryId,
      subjectIds.slice(index, index + subjectsPerQuery),
    )
    for (const details of await gallery.loadSubjectDetails(tx, rows))
      subjects.set(details.subjectId, details)
  }
  return subjects
}

/** Returns hits as candidates, in their order, with the names and groups of the loaded subjects. */
export function toCandidates(
  gallery: Pick<Gallery, 'matchLevelOf'>,
  subjects: HitSubjects,
  hits: readonly SearchHit[],
): MatchCandidate[] {
  return hits.flatMap(({ subjectId, faceId, similarity }) => {
    const subject = subjects.get(subjectId)
    if (!subject) return []
    const { externalId, displayName, groups } = subject
    const matchLevel = gallery.matchLevelOf(similarity)
    return [{ subjectId, externalId, displayName, similarity, matchLevel, faceId, groups }]
  })
}

/** Candidates below the threshold in `debug`. */
export const debugCandidatesMax = 5

export type ThresholdSplit = { readonly above: MatchCandidate[]; readonly below: MatchCandidate[] }

/** Separates the matches from the nearest candidates below the threshold. */
export function splitAtThreshold(
  threshold: number,
  candidates: readonly MatchCandidate[],
): ThresholdSplit {
  const isAbove = ({ similarity }: MatchCandidate): boolean => similarity >= threshold
  return {
    above: candidates.filter(isAbove),
    below: candidates.filter((one) => !isAbove(one)).slice(0, debugCandidatesMax),
  }
}
