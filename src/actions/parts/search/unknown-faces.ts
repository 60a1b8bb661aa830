import type { SearchHit } from '../../../gallery/match.ts'
import { ActionError, GalleryChangedError } from '../../../lib/errors.ts'
import type { Tx } from '../../../store/database.ts'
import type { SubjectRow } from '../../../store/gallery-schema.ts'
import type { FaceEvent } from '../../../store/webhooks/events.ts'
import type { ExtractOptions, ProbeFace } from '../extract-probes.ts'
import { currentHits } from '../pictures/find-duplicates.ts'
import { enrollmentMinima } from '../quality-reasons.ts'
import { capacityErrors, toNewFace } from '../store-face.ts'
import { assignSubjects } from './assign-subjects.ts'
import { type SearchCall, searchFacts } from './candidates.ts'

/** A face with the subjects that a search has found. */
export type SearchedFace = ProbeFace & {
  readonly hits: readonly SearchHit[]
  /** The same, with lower similarities of denied faces. */
  readonly decidedHits: readonly SearchHit[]
}

/** The visitors that faces without a match resemble; `recordVisits` updates it after each picture. */
export type VisitorSearch = {
  /** The number of the last change of the visitors that the search included. */
  sequence: number
  /** The same of the subjects. */
  subjectSequence: number
  /** The visitors of each face without a match that is good enough to enroll. */
  readonly hitsOf: Map<ProbeFace, readonly SearchHit[]>
}

/** The most faces of a picture, so that each has a visitor if others have the first ones. */
const hitsMax = 21

/**
 * The most faces of a call with a visitor, those of the first pictures first. On SQLite, no other call
 * runs while they are compared and stored, about 1 ms each.
 */
const visitorsPerCallMax = 20

/**
 * Returns what to extract from the pictures of a search. A project may store crops of near misses and
 * of unknown people, and its visitors may have templates of former models.
 */
export async function searchExtractOptions({
  caller: { galleryId, switches },
  services: { matching, visitors },
}: Pick<SearchCall, 'caller' | 'services'>): Promise<ExtractOptions> {
  const contextCrops = switches.nearMissCrops || (switches.unknownPeople && switches.storeCrops)
  const galleryIds = [galleryId]
  if (switches.unknownPeople) galleryIds.push(visitors.galleryIdOf(galleryId))
  const former = await Promise.all(galleryIds.map((id) => matching.formerModels(id)))
  return { previousTemplates: [...new Set(former.flat())], contextCrops }
}

/**
 * Searches the visitors of the gallery for the faces that match no subject; undefined if there is
 * nothing to record. With `groups`, a face without a match can be a person of other groups.
 *
 * @param subjectSequence the number of the last change of the subjects before their search.
 */
export async function searchVisitors(
  call: SearchCall,
  faces: readonly SearchedFace[],
  subjectSequence: number,
): Promise<VisitorSearch | undefined> {
  const { params, caller, services } = call
  const { subjects, matching, visitors } = services
  if (!caller.switches.unknownPeople || params.groups) return undefined
  const galleryId = visitors.galleryIdOf(caller.galleryId)
  const { unknown, sequence } = await subjects.read(async (reading) => {
    const { threshold } = await searchFacts(call, reading)
    const found = faces.filter(
      ({ qualityScore, hits }) =>
        qualityScore >= enrollmentMinima.minQuality && !hasMatch(hits, threshold),
    )
    const last = found.length === 0 ? 0 : await matching.sequence(reading, galleryId)
    return { unknown: found.slice(0, visitorsPerCallMax), sequence: last }
  })
  if (unknown.length === 0) return undefined
  const found = unknown.map(async (face) => {
    const hits = await matching.search(galleryId, face.probes, { limit: hitsMax })
    return [face, hits] as const
  })
  return { sequence, subjectSequence, hitsOf: new Map(await Promise.all(found)) }
}

function hasMatch(hits: readonly { readonly similarity: number }[], threshold: number): boolean {
  return hits.some(({ similarity }) => similarity >= threshold)
}

/** The visit of an unknown person. */
type FaceVisit = {
  /** What the response contains. */
  readonly value: { readonly visitorId: string }
  /** The visitor before the visit, and the similarity; undefined if the visitor is new. */
  readonly former: { readonly visitor: SubjectRow; readonly similarity: number } | undefined
}

type PictureFaces = {
  readonly search: VisitorSearch | undefined
  readonly faces: readonly ProbeFace[]
  /** Subjects of each face when the call is settled, and the threshold of a match. */
  readonly candidates: readonly (readonly { readonly similarity: number }[])[]
  readonly threshold: number
}

/**
 * Records the unknown people of a picture: adds one visit to the visitors that they are, and creates
 * visitors for the others. Two faces of a picture are never one visitor. The visitors are locked and
 * compared again if they have changed since the search, so that two concurrent calls with a new person
 * create one visitor.
 *
 * @returns the visits, in the order of the faces; without any, an empty list.
 * @throws GalleryChangedError if a subject that changed since the search matches: a promoted visitor.
 */
export async function recordVisits(
  call: SearchCall,
  tx: Tx,
  { search, faces, candidates, threshold }: PictureFaces,
): Promise<readonly (FaceVisit | undefined)[]> {
  const unknown = faces.filter(
    (face, index) => search?.hitsOf.has(face) && !hasMatch(candidates[index] ?? [], threshold),
  )
  if (!search || unknown.length === 0) return []
  const { caller, services } = call
  const { subjects, matching, visitors } = services
  // The faces of all later pictures too: each changed subject is decrypted once.
  const probes = Array.from(search.hitsOf.keys(), (face) => face.probes)
  const since = { galleryId: caller.galleryId, sequence: search.subjectSequence, faces: probes }
  const changed = await matching.matchChangedSince(tx, since)
  if (changed.some((ofFace) => hasMatch(ofFace, threshold))) throw new GalleryChangedError()
  search.subjectSequence = await matching.sequence(tx, caller.galleryId)
  const galleryId = visitors.galleryIdOf(caller.galleryId)
  await subjects.lock(tx, galleryId, 'exclusive')
  await updateHits(matching, tx, { galleryId, search })
  const request = { galleryId, projectId: caller.projectId, requested: 'auto' } as const
  const { threshold: visitorThreshold } = await matching.searchThreshold(tx, request)
  const isNear = (hit: SearchHit) => hit.similarity >= visitorThreshold
  const near = unknown.map((face) => (search.hitsOf.get(face) ?? []).filter(isNear))
  const visitorIds = [...new Set(near.flat().map(({ subjectId }) => subjectId))]
  const rows = await visitors.findByIds(tx, galleryId, visitorIds)
  const byId = new Map(rows.map((row) => [row.subjectId, row]))
  const similar = near.map((ofFace) =>
    ofFace
      .filter(({ subjectId }) => byId.has(subjectId))
      .toSorted((a, b) => b.similarity - a.similarity),
  )
  const assigned = assignSubjects(visitorThreshold, similar)
  const visits = new Map<ProbeFace, FaceVisit | undefined>()
  for (const [index, face] of unknown.entries()) {
    const [best] = assigned[index] ?? []
    const visitor = best && byId.get(best.subjectId)
    const former = visitor && { visitor, similarity: best.similarity }
    visits.set(face, await recordVisit(call, tx, { face, former }))
  }
  for (const face of faces) search.hitsOf.delete(face)
  return faces.map((face) => visits.get(face))
}

/**
 * Compares the faces of this and all later pictures with the visitors that have changed since the
 * search. Each of them is decrypted once, and not again for each picture.
 */
async function updateHits(
  matching: SearchCall['services']['matching'],
  tx: Tx,
  { galleryId, search }: { readonly galleryId: string; readonly search: VisitorSearch },
): Promise<void> {
  const { sequence, hitsOf } = search
  const probes = Array.from(hitsOf.keys(), (face) => face.probes)
  const since = { galleryId, sequence, faces: probes }
  const hits = await currentHits(matching, tx, { since, hits: [...hitsOf.values()] })
  for (const [index, face] of [...hitsOf.keys()].entries()) hitsOf.set(face, hits[index] ?? [])
  search.sequence = await matching.sequence(tx, galleryId)
}

/**
 * A visitor has at most this many templates, and a further one if the picture differs from the former
 * ones. `eval/visitors/measure.ts` measures both.
 */
export const visitorFacesMax = 5
export const addedFaceSimilarityMax = 0.98

/** Adds a visit to a visitor, or creates one; undefined if the gallery has no room for another one. */
async function recordVisit(
  { caller, services }: SearchCall,
  tx: Tx,
  { face, former }: Pick<FaceVisit, 'former'> & { readonly face: ProbeFace },
): Promise<FaceVisit | undefined> {
  const { subjects, visitors } = services
  const addFace = async (visitor: SubjectRow) =>
    subjects.addFace(tx, visitor, await toNewFace({ caller, services }, tx, face))
  if (!former) {
    const owner = { ...caller, galleryId: visitors.galleryIdOf(caller.galleryId) }
    return withinCapacity(tx, async () => {
      const visitor = await subjects.create(tx, owner, { visitCount: 1 })
      await addFace(visitor)
      return { value: { visitorId: visitor.subjectId }, former }
    })
  }
  const { visitor, similarity } = former
  const { subjectId, galleryId } = visitor
  await visitors.addVisit(tx, subjectId)
  const filter = { galleryId, subjectId, limit: visitorFacesMax }
  const isSimilar = similarity >= addedFaceSimilarityMax
  if (!isSimilar && (await subjects.listFaces(tx, filter)).length < visitorFacesMax)
    await withinCapacity(tx, () => addFace(visitor))
  return { value: { visitorId: subjectId }, former }
}

/** Returns undefined, with the writes undone, if the gallery or the visitor has no room for a face. */
async function withinCapacity<Result>(tx: Tx, write: () => Promise<Result>) {
  try {
    return await tx.savepoint(write)
  } catch (error) {
    if (error instanceof ActionError && capacityErrors.has(error.code)) return undefined
    throw error
  }
}

type UnmatchedFaces = {
  /** The subjects of each face, the most similar first. */
  readonly candidates: readonly (readonly { readonly similarity: number }[])[]
  readonly visits: readonly (FaceVisit | undefined)[]
  readonly threshold: number
}

/** Returns the events about faces that match no subject, without those of ignored visitors. */
export function unmatchedEvents({ candidates, visits, threshold }: UnmatchedFaces): FaceEvent[] {
  return candidates.flatMap(([best], faceIndex): FaceEvent[] => {
    const { value, former } = visits[faceIndex] ?? {}
    if ((best && best.similarity >= threshold) || former?.visitor.isIgnored) return []
    const face = { faceIndex, similarity: best?.similarity ?? null, threshold, ...value }
    const unmatched = { type: 'identify.unmatched', face } as const
    if (!value || !former) return [unmatched]
    const { visitCount, lastSeenAtUtc: previousSeenAtUtc } = former.visitor
    const { similarity } = former
    const visitor = { ...value, visitCount: (visitCount ?? 0) + 1, previousSeenAtUtc, similarity }
    return [unmatched, { type: 'visitor.returned', face: { faceIndex, ...visitor } }]
  })
}
