import type { SearchHit } from '../../../gallery/match.ts'
import type { Tx } from '../../../store/database.ts'
import type { ActionCall, ItemOutcomes } from '../../action.ts'
import { searchDecision } from '../call-decisions.ts'
import { toDebug, toWarnings, zeroThreshold } from '../response-fields.ts'
import {
  loadHitSubjects,
  splitAtThreshold,
  toCandidates,
  countIncomparable,
  findUnknownGroups,
  searchFacts,
  searchProbe,
  unknownGroupWarnings,
  type ProbeSelector,
  type SearchParams,
} from './candidates.ts'
import { findProbeSubject, readStoredProbe, type StoredProbe } from './stored-probe.ts'

type IdentifyStoredCall = ActionCall<ProbeSelector & SearchParams>

/** A search for a stored face that has found its hits. */
type StoredSearch = {
  readonly probe: StoredProbe
  readonly hits: readonly SearchHit[]
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
  const search = { probe, hits, timingsMs, incomparableCount, unknownGroups }
  return {
    effect: async (tx: Tx) => {
      await subjects.lock(tx, galleryId, 'shared')
      // The subject may have been deleted during the search.
      await findProbeSubject(call, tx)
      return [await toOutcome(call, tx, search)] satisfies ItemOutcomes
    },
  }
}

async function toOutcome(call: IdentifyStoredCall, tx: Tx, search: StoredSearch) {
  const { params, caller, services } = call
  const { subjects, matching } = services
  const { probe, hits } = search
  const facts = await searchFacts(call, tx)
  const hitSubjects = await loadHitSubjects(subjects, tx, caller.galleryId, hits)
  const found = toCandidates(hitSubjects, hits)
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
