import type { z } from 'zod'
import type { SearchHit } from '../../../gallery/match.ts'
import type { SubjectDetails } from '../../../gallery/subjects.ts'
import type { ReadTx, Tx } from '../../../store/database.ts'
import type { FaceEvent } from '../../../store/webhooks/events.ts'
import type { ActionCall } from '../../action.ts'
import type { candidate, matchLevel } from '../../schemas/fields.ts'
import { ActionError, GalleryChangedError, invalidRequest } from '../../../lib/errors.ts'
import type { Template } from '../../../vision/embed/template.ts'

export type MatchCandidate = z.input<typeof candidate>

/** The subjects of search hits, by id. Below the threshold, one that has ended is missing. */
export type HitSubjects = ReadonlyMap<string, HitSubject>

type HitSubject = Pick<SubjectDetails, 'subjectId' | 'externalId' | 'displayName' | 'groups'>

/**
 * Loads the names of the subjects of all hits of a call: of 200 faces at most, with five candidates and
 * 30 further hits each.
 *
 * @throws GalleryChangedError if a match has ended since the search: its faces can belong to another
 *   subject, and the search can have left out further matches.
 */
export async function loadHitSubjects(
  { caller: { galleryId }, services: { subjects } }: SearchCall,
  tx: Tx,
  { hits, threshold }: { readonly hits: readonly SearchHit[]; readonly threshold: number },
): Promise<HitSubjects> {
  const subjectIds = [...new Set(hits.map(({ subjectId }) => subjectId))]
  const named = await subjects.findNames(tx, galleryId, subjectIds)
  const found = new Map(named.map((subject) => [subject.subjectId, subject]))
  const matches = hits.filter(({ similarity }) => similarity >= threshold)
  if (!matches.every(({ subjectId }) => found.has(subjectId))) throw new GalleryChangedError()
  return found
}

/** Returns hits as candidates, in their order, with the names and groups of the loaded subjects. */
export function toCandidates(subjects: HitSubjects, hits: readonly SearchHit[]): MatchCandidate[] {
  return hits.flatMap(({ subjectId, faceId, similarity }) => {
    const subject = subjects.get(subjectId)
    if (!subject) return []
    const { externalId, displayName, groups } = subject
    const level = matchLevelOf(similarity)
    return [{ subjectId, externalId, displayName, similarity, matchLevel: level, faceId, groups }]
  })
}

/** Each level begins at a similarity of the scale in gallery/calibration/similarity.ts. */
export function matchLevelOf(similarity: number): z.output<typeof matchLevel> {
  if (similarity < 0.7) return 'none'
  if (similarity < 0.8) return 'low'
  if (similarity < 0.9) return 'medium'
  return similarity < 0.95 ? 'high' : 'veryHigh'
}

type IdentifiedFaces = {
  readonly threshold: number
  readonly faces: readonly {
    readonly faceIndex: number
    readonly ambiguous?: true | undefined
    readonly candidates: readonly MatchCandidate[]
  }[]
}

/** Returns the events about the best match of each face that has one. */
export function matchEvents({ faces, threshold }: IdentifiedFaces): FaceEvent[] {
  return faces.flatMap(({ faceIndex, ambiguous, candidates: [best] }) => {
    if (!best) return []
    const outcome = ambiguous ? 'ambiguous' : 'match'
    const { subjectId, externalId, groups, faceId, similarity } = best
    const match = { subjectId, externalId, groups, faceId, similarity, threshold }
    return [{ type: 'identify.matched', face: { faceIndex, outcome, ...match } }]
  })
}

/** Candidates below the threshold in `debug`. */
const debugCandidatesMax = 5

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

/** The parameters that name what to search for. A call has exactly one of them. */
const probeFields = ['images', 'subjectId', 'externalId', 'faceId'] as const

export type ProbeSelector = {
  readonly images?: readonly unknown[] | undefined
  readonly subjectId?: string | undefined
  readonly externalId?: string | undefined
  readonly faceId?: string | undefined
}

/**
 * Whether a search is for a stored face, not for those of images.
 *
 * @param pictureFields the parameters that only a search with images has, with their defaults.
 * @throws ActionError INVALID_REQUEST unless exactly one parameter states what to search for, or for
 *   a parameter that would have no effect.
 */
export function isStoredSearch(
  params: ProbeSelector & object,
  pictureFields: Readonly<Record<string, z.ZodType>>,
): boolean {
  const [field, other] = probeFields.filter((name) => params[name] !== undefined)
  if (field === undefined)
    throw invalidRequest(
      'params.images: missing; send 1 to 10 images, or subjectId, externalId or faceId to search for a stored face',
    )
  if (other !== undefined)
    throw invalidRequest(
      `params.${other}: must be absent with ${field}; send one of ${probeFields.join(', ')}`,
    )
  if (field === 'images') return false
  const values = new Map<string, unknown>(Object.entries(params))
  for (const [name, schema] of Object.entries(pictureFields))
    if (values.get(name) !== schema.parse(undefined))
      throw invalidRequest(
        `params.${name}: must be absent with ${field}; it applies only to images`,
      )
  return true
}

/** The parameters of every search. */
export type SearchParams = {
  readonly maxCandidates: number
  readonly maxFaces?: number
  readonly uniqueSubjects?: boolean
  readonly threshold?: number | 'auto' | undefined
  readonly groups?: readonly string[] | undefined
}

export type SearchCall = Pick<ActionCall<SearchParams>, 'params' | 'caller' | 'services' | 'debug'>

/**
 * Candidates in the response to a call, so that it has at most about 3 MB: five, the default, for each
 * of 20 faces in ten images.
 */
export const callCandidatesMax = 1000

/** Warns that a face can have more candidates than the response contains. */
export function fewerCandidates(
  { maxCandidates }: SearchParams,
  faceMax: number,
  faces: readonly { readonly candidates: readonly MatchCandidate[] }[],
): string[] {
  const isLimited = faces.some(({ candidates }) => candidates.length === faceMax)
  if (faceMax === maxCandidates || !isLimited) return []
  return [
    `maxCandidates: each face has at most ${faceMax} candidates, because a response has at most ${callCandidatesMax}; for more, send fewer images or a smaller maxFaces`,
  ]
}

/** For the distance between the most similar subject and the next one. */
const candidatesMin = 2

/** Subjects of a search that a project with feedback can deny without hiding the next match. */
const deniedCandidatesMax = 5

/**
 * Searches the gallery with one face. `debug` and feedback need some candidates more, and
 * `uniqueSubjects` one for each face: the others can be matched with as many.
 */
export function searchProbe(
  { params, caller, services, debug }: SearchCall,
  probes: readonly Template[],
  excludeSubjectId?: string,
): Promise<SearchHit[]> {
  const { maxCandidates, maxFaces = 1, uniqueSubjects = false } = params
  const further = (debug ? debugCandidatesMax : 0) + (uniqueSubjects ? maxFaces : 0)
  const denied = caller.switches.feedback ? deniedCandidatesMax : 0
  const limit = Math.max(candidatesMin, maxCandidates + further) + denied
  const options = { limit, groups: params.groups, excludeSubjectId }
  return services.matching.search(caller.galleryId, probes, options)
}

/**
 * Counts the faces of the gallery that a probe with templates of these models cannot be compared with.
 *
 * @throws ActionError MODEL_MISMATCH if that is every face.
 */
export async function countIncomparable(
  { caller, services: { matching } }: SearchCall,
  modelIds: readonly string[],
): Promise<number> {
  const { count, otherCount } = await matching.countComparable(caller.galleryId, modelIds)
  if (count === 0 && otherCount > 0)
    throw new ActionError(
      'MODEL_MISMATCH',
      `the gallery has no template of ${modelIds.join(' or ')}`,
    )
  return otherCount
}

/** Returns the size of the gallery and the threshold of the search when the call is settled. */
export function searchFacts(
  { params, caller: { galleryId, projectId }, services: { matching } }: SearchCall,
  reading: ReadTx,
) {
  return matching.searchThreshold(reading, { galleryId, projectId, requested: params.threshold })
}

/**
 * Returns the groups of a search that no subject of the gallery belongs to.
 *
 * @throws ActionError GROUP_NOT_FOUND if none of the groups exists: the search could return no match.
 */
export async function findUnknownGroups({
  params: { groups = [] },
  caller: { galleryId },
  services: { subjects },
}: SearchCall): Promise<readonly string[]> {
  const names = [...new Set(groups)]
  if (names.length === 0) return []
  const found = await subjects.read((reading) => subjects.findGroupNames(reading, galleryId, names))
  const existing = new Set(found)
  const unknown = names.filter((name) => !existing.has(name))
  if (unknown.length === names.length)
    throw new ActionError(
      'GROUP_NOT_FOUND',
      `params.groups: no subject of the gallery belongs to ${unknown.join(', ')}`,
    )
  return unknown
}

/** Returns the warning about groups that do not exist. */
export function unknownGroupWarnings(unknown: readonly string[]): string[] {
  return unknown.length > 0
    ? [`groups: no subject of the gallery belongs to ${unknown.join(', ')}`]
    : []
}
