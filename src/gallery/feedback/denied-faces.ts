import { setImmediate as nextTurn } from 'node:timers/promises'
import { mapSequential } from '../../lib/account-context.ts'
import { mergeTemplates, spreadShares } from '../../lib/density/merge-templates.ts'
import type { ReadTx, Store } from '../../store/database.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import { findDenials, findDeniedSubjects } from '../../store/gallery/feedback/match-verdicts.ts'
import { faceCounts } from '../../store/gallery/faces.ts'
import type { Template } from '../../vision/embed/template.ts'
import {
  type Calibration,
  correctedScore,
  isIdentical,
  roundSimilarity,
  scoreAt,
} from '../calibration/similarity.ts'
import type { MatchOptions, MatchScore, SearchHit } from '../match.ts'

/** The share of the similarity that a denied face keeps: below every threshold that has an effect. */
const keptShare = 0.5

/** Denied faces that match each other are of one person. */
const samePersonSimilarity = 0.8

/**
 * How much higher a merged template scores than a single one, in powers of ten of the false-match rate.
 * `node eval/feedback/measure.ts` measures it.
 */
const mergedStep = 0.4

type ComparedSubject = {
  /** The score of the probe and the template of the subject. */
  readonly score: number
  /** The number of faces of the subject. */
  readonly faces: number
}

/**
 * Whether a face is that of a person who was denied to be the subject: it is more similar to the denied
 * faces of that person than to the subject. A denied face itself is always denied.
 *
 * @param denied templates of denied matches of the subject, of the model of the probe.
 */
export function isDeniedFace(
  probe: Template,
  { score, faces }: ComparedSubject,
  denied: readonly Template[],
  calibration: Calibration,
): boolean {
  if (denied.some((template) => isIdentical(probe, template))) return true
  const scores = denied.map((template) => correctedScore(probe, template))
  const nearest = denied[scores.indexOf(Math.max(...scores))]
  if (!nearest) return false
  const samePerson = scoreAt(samePersonSimilarity, calibration)
  const ofPerson = denied.filter(
    (template) => template === nearest || correctedScore(template, nearest) >= samePerson,
  )
  const person = mergeTemplates(ofPerson, spreadShares.subject)
  const step = mergedStep * (scoreAt(0.9, calibration) - scoreAt(0.8, calibration))
  const isMerged = (count: number): number => (count > 1 ? 1 : 0)
  const margin = step * (isMerged(faces) - isMerged(ofPerson.length))
  return correctedScore(probe, person) + margin >= score
}

/** A face, with what it is compared by. */
export type ComparedMatch<Match> = { readonly probes: readonly Template[]; readonly match: Match }

/** Returns the match of a subject, with half of its similarity if the face is a denied one. */
export async function lowerDenied<Match extends MatchScore>(
  reading: ReadTx,
  { subjectId, hasDenials }: Pick<SubjectRow, 'subjectId' | 'hasDenials'>,
  compared: ComparedMatch<Match>,
  options: MatchOptions,
): Promise<Match> {
  if (!hasDenials) return compared.match
  using denials = await readDenials(reading, subjectId, options)
  return denials.lower(compared)
}

/**
 * Returns the hits of faces, the most similar first, with half of their similarity if the face is a
 * denied one. The subjects are read in separate transactions before the call is settled, because many
 * faces and denials take seconds. A denial that is sent meanwhile may not apply.
 */
export async function lowerDeniedHits<Hit extends Omit<SearchHit, 'faceId'>>(
  read: Store['read'],
  faces: readonly { readonly probes: readonly Template[]; readonly hits: readonly Hit[] }[],
  options: MatchOptions,
): Promise<Hit[][]> {
  const lowered = faces.map(({ hits }) => [...hits])
  const possible = lowered.flat().filter(({ mayBeDenied }) => mayBeDenied !== false)
  if (possible.length === 0) return lowered
  const subjectIds = [...new Set(possible.map(({ subjectId }) => subjectId))]
  for (const subjectId of await read((reading) => findDeniedSubjects(reading, subjectIds))) {
    using denials = await read((reading) => readDenials(reading, subjectId, options))
    for (const [index, { probes, hits }] of faces.entries()) {
      const place = hits.findIndex((hit) => hit.subjectId === subjectId)
      const match = hits[place]
      if (match) lowered[index]?.splice(place, 1, denials.lower({ probes, match }))
    }
    await nextTurn()
  }
  return lowered.map((hits) => hits.toSorted((a, b) => b.similarity - a.similarity))
}

/** Decrypts the denied faces of a subject, until it is disposed of. */
async function readDenials(
  reading: ReadTx,
  subjectId: string,
  { decryptStored, calibrations }: MatchOptions,
) {
  const rows = await findDenials(reading, subjectId)
  const ofLoaded = rows.filter(({ modelId }) => calibrations.of(modelId))
  const decrypted = await mapSequential(ofLoaded, (row) => decryptStored(reading, row))
  const denied = decrypted.flatMap((template) => template ?? [])
  const faces = (await faceCounts(reading, [subjectId])).get(subjectId) ?? 0
  return {
    lower: <Match extends MatchScore>({ probes, match }: ComparedMatch<Match>): Match => {
      const { modelId, score } = match
      const probe = probes.find((one) => one.modelId === modelId)
      const calibration = calibrations.of(modelId)
      const ofModel = denied.filter((one) => one.modelId === modelId)
      return probe && calibration && isDeniedFace(probe, { score, faces }, ofModel, calibration)
        ? { ...match, similarity: roundSimilarity(match.similarity * keptShare) }
        : match
    },
    [Symbol.dispose]: () => {
      for (const { vector } of denied) vector.fill(0)
    },
  }
}
