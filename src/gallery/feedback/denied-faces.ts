import { mapSequential } from '../../lib/account-context.ts'
import { mergeTemplates, spreadShares } from '../../lib/density/merge-templates.ts'
import type { ReadTx } from '../../store/database.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import { findDenials } from '../../store/gallery/feedback/match-verdicts.ts'
import { faceCounts } from '../../store/gallery/faces.ts'
import type { Template } from '../../vision/embed/template.ts'
import {
  type Calibration,
  correctedScore,
  isIdentical,
  roundSimilarity,
  scoreAt,
} from '../calibration/similarity.ts'
import type { MatchOptions, MatchScore } from '../match.ts'

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

/** Returns the match of a subject, with half of its similarity if the face is a denied one. */
export async function lowerDenied<Match extends MatchScore>(
  reading: ReadTx,
  { subjectId, hasDenials }: Pick<SubjectRow, 'subjectId' | 'hasDenials'>,
  { probes, match }: { readonly probes: readonly Template[]; readonly match: Match },
  { decryptStored, calibrations }: MatchOptions,
): Promise<Match> {
  const probe = probes.find(({ modelId }) => modelId === match.modelId)
  const calibration = calibrations.of(match.modelId)
  if (!hasDenials || !probe || !calibration) return match
  const denials = await findDenials(reading, subjectId)
  const ofModel = denials.filter(({ modelId }) => modelId === match.modelId)
  const decrypted = await mapSequential(ofModel, (row) => decryptStored(reading, row))
  const denied = decrypted.flatMap((template) => template ?? [])
  const faces = (await faceCounts(reading, [subjectId])).get(subjectId) ?? 0
  const isDenied = isDeniedFace(probe, { score: match.score, faces }, denied, calibration)
  for (const { vector } of denied) vector.fill(0)
  return isDenied ? { ...match, similarity: roundSimilarity(match.similarity * keptShare) } : match
}
