import type { SearchHit } from '../../../gallery/match.ts'
import { mergeTemplates, spreadShares } from '../../../lib/density/merge-templates.ts'
import { ActionError, GalleryChangedError } from '../../../lib/errors.ts'
import type { ReadTx, Tx } from '../../../store/database.ts'
import type { SubjectRow } from '../../../store/gallery-schema.ts'
import type { Template } from '../../../vision/embed/template.ts'
import type { ActionCall, ItemOutcomes } from '../../action.ts'
import { subjectNotFound } from '../action-errors.ts'
import { searchDecision } from '../call-decisions.ts'
import type { GalleryCall } from '../pictures/find-duplicates.ts'
import { toDebug, toWarnings, zeroThreshold } from '../response-fields.ts'
import { subjectLookup } from '../subject-lookup.ts'
import {
  type ProbeSelector,
  type SearchParams,
  countIncomparable,
  findUnknownGroups,
  loadHitSubjects,
  searchFacts,
  searchProbe,
  splitAtThreshold,
  toCandidates,
  unknownGroupWarnings,
} from './candidates.ts'

type IdentifyStoredCall = ActionCall<ProbeSelector & SearchParams>

/** A search for a stored face that has found its hits. */
type StoredSearch = {
  readonly probe: StoredProbe
  readonly hits: readonly SearchHit[]
  /** The same, with lower similarities of denied faces. */
  readonly decidedHits: readonly SearchHit[]
  readonly timingsMs: Readonly<Record<string, number>>
  readonly incomparableCount: number
  readonly unknownGroups: readonly string[]
}

/**
 * Searches for a stored face among the other subjects. It counts as no activity of the subjects that it
 * finds: a search for duplicates must not extend their retention.
 */
export async function identifyStored(call: IdentifyStoredCall) {
  const { subjects } = call.services
  const { galleryId } = call.caller
  const unknownGroups = await findUnknownGroups(call)
  const startMs = performance.now()
  const probe = await readStoredProbe(call)
  const readMs = performance.now()
  const hits = await searchProbe(call, probe.templates, probe.subjectId)
  const timingsMs = { database: readMs - startMs, search: performance.now() - readMs }
  const incomparableCount = await countIncomparable(call, modelsOf(probe))
  const searched = { probes: probe.templates, hits }
  const [decidedHits = []] = await call.services.matching.lowerDeniedHits([searched])
  const search = { probe, hits, decidedHits, timingsMs, incomparableCount, unknownGroups }
  return {
    effect: async (tx: Tx) => {
      await subjects.lock(tx, galleryId, 'shared')
      // The subject may have been deleted during the search, or the face moved.
      const { subjectId } = await findProbeSubject(call, tx)
      if (subjectId !== probe.subjectId) throw new GalleryChangedError()
      return [await toOutcome(call, tx, search)] satisfies ItemOutcomes
    },
  }
}

async function toOutcome(call: IdentifyStoredCall, tx: Tx, search: StoredSearch) {
  const { params, services } = call
  const { matching } = services
  const { probe, hits } = search
  const facts = await searchFacts(call, tx)
  const hitSubjects = await loadHitSubjects(call, tx, { hits, threshold: facts.threshold })
  const found = toCandidates(hitSubjects, search.decidedHits)
  const split = splitAtThreshold(facts.threshold, found)
  const candidates = split.above.slice(0, params.maxCandidates)
  const value = {
    matched: candidates.length > 0,
    bestMatch: candidates[0] ?? null,
    faces: [],
    probe: { subjectId: probe.subjectId, faceIds: [...probe.faceIds] },
    candidates,
    ...facts,
    calibration: matching.calibrationSource(modelsOf(probe)),
    ...(search.incomparableCount > 0 && { notComparable: search.incomparableCount }),
    ...toWarnings(...unknownGroupWarnings(search.unknownGroups), ...zeroThreshold(params)),
    ...(call.debug &&
      toDebug({
        providers: { recognizer: modelsOf(probe).join('+') },
        scores: { ...(hits[0] && { recognizer: hits[0].score }) },
        timingsMs: { ...search.timingsMs },
        candidatesBelowThreshold: split.below,
      })),
  }
  const shown = [...candidates, ...(call.debug ? split.below : [])]
  const subjectIds = [probe.subjectId, ...shown.map(({ subjectId }) => subjectId)]
  const searched = { qualityScore: null, candidates: found }
  const decision = searchDecision(facts.threshold, [searched])
  return { correlationId: undefined, subjectIds, value, decision }
}

function modelsOf({ templates }: StoredProbe): string[] {
  return templates.map(({ modelId }) => modelId)
}

export type StoredSearchCall = GalleryCall & { readonly params: ProbeSelector }

/** A probe of stored templates. */
type StoredProbe = Awaited<ReturnType<typeof readStoredProbe>>

/**
 * Reads the templates of a face, or those of all faces of a subject, merged into one probe.
 *
 * @returns the faces whose templates the probe consists of, and one template per model.
 * @throws ActionError SUBJECT_NOT_FOUND, or MODEL_MISMATCH if it has no template of a loaded model.
 */
export async function readStoredProbe(call: StoredSearchCall) {
  const { subjects, matching } = call.services
  const { faceId } = call.params
  const subject = await subjects.read((reading) => findProbeSubject(call, reading))
  const faces = await matching.readStoredFaces({ subject, faceId: faceId?.toLowerCase() })
  const all = faces.flatMap(({ templates }) => templates)
  const modelIds = new Set(all.map(({ modelId }) => modelId))
  if (modelIds.size === 0)
    throw new ActionError('MODEL_MISMATCH', 'the subject has no template of a loaded model')
  const templates = [...modelIds].map((modelId) =>
    mergeFaces(all.filter((template) => template.modelId === modelId)),
  )
  const faceIds = faces.map((face) => face.faceId)
  return { subjectId: subject.subjectId, faceIds, templates }
}

/** Finds the subject of a stored search. @throws ActionError SUBJECT_NOT_FOUND. */
async function findProbeSubject(
  { params, caller: { galleryId }, services: { subjects } }: StoredSearchCall,
  reading: ReadTx,
): Promise<SubjectRow> {
  const { subjectId, externalId, faceId } = params
  if (subjectId !== undefined || externalId !== undefined)
    return (
      (await subjects.find(reading, galleryId, subjectLookup(params))) ?? subjectNotFound(params)
    )
  const [face] = await subjects.listFaces(reading, { galleryId, faceId, limit: 1 })
  const subject = face && (await subjects.find(reading, galleryId, face))
  if (subject) return subject
  throw new ActionError(
    'SUBJECT_NOT_FOUND',
    'params.faceId: the gallery contains no face with this faceId',
    { hint: 'List the faces of a subject with GET /v1/subjects/{subjectId}?include=faces.' },
  )
}

/** The decrypted templates of the faces are overwritten after they were merged. */
function mergeFaces(templates: readonly Template[]): Template {
  const merged = mergeTemplates(templates, spreadShares.probe)
  for (const { vector } of templates) vector.fill(0)
  return merged
}
