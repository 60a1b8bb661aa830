import { dayMs, formatUtc } from '../../lib/clock.ts'
import texts from './health-issues.json' with { type: 'json' }
import { createTemplateScorer } from '../calibration/measure/template-scorer.ts'
import type { GalleryTemplates } from '../calibration/read-templates.ts'
import { autoThreshold, roundSimilarity, scoreAt, similarityAt } from '../calibration/similarity.ts'
import { judgePictures, type PictureIssue, type PictureJudgement } from './judge-pictures.ts'
import { findNearestOthers } from './nearest-others.ts'
import { openOwnPictures, otherPictures, type OwnPictures } from './own-pictures.ts'
import { predictMisses } from './predicted-misses.ts'
import {
  findSimilarSubjects,
  type SimilarOptions,
  type SimilarSubjects,
  subjectNameAt,
} from './similar-subjects.ts'

/** What is wrong with a subject, and what corrects it; the most urgent first. */
export const issueTexts: typeof texts = texts

export type HealthIssue = keyof typeof texts

// The file has these keys only.
export const healthIssues = Object.keys(texts) as readonly HealthIssue[]

export type GalleryHealth = ReturnType<typeof checkGallery>

export type SubjectHealth = ReturnType<typeof describeSubject>

export type CheckGalleryOptions = Pick<SimilarOptions, 'calibration' | 'isDistinct'> & {
  readonly galleryId: string
  readonly nowMs: number
  readonly onProgress: (done: number, total: number) => void
}

/** Faces change: pictures that are older are reported. */
const pictureAgeMaxDays = 3 * 365

/** Checks the templates of a gallery against each other. */
export function checkGallery(templates: GalleryTemplates, options: CheckGalleryOptions) {
  const { galleryId, calibration, nowMs, onProgress } = options
  const { modelId, subjects, subjectOf, unreadable, otherFaces } = templates
  const bySubject = groupTemplates(subjectOf, subjects.length)
  const threshold = autoThreshold(subjects.length)
  const limits = { calibration, threshold, thresholdScore: scoreAt(threshold, calibration) }
  const fromScore = scoreAt(threshold - nearThreshold, calibration)
  const others = findNearestOthers(templates, { bySubject, fromScore, onProgress })
  const scorer = createTemplateScorer(templates)
  const judged = bySubject.map((indexes) => {
    const own = openOwnPictures(templates, scorer, indexes)
    const judgement = judgePictures(own, others, limits)
    return { own, judgement, foreign: new Set(judgement.foreign.keys()) }
  })
  const flagged = new Set(
    judged.flatMap(({ own, foreign }) => [...foreign].map((picture) => own.indexes[picture] ?? -1)),
  )
  const similar = findSimilarSubjects(templates, others, { ...options, threshold, flagged })
  const results = judged.map(({ own, judgement }, subject) =>
    describeSubject(templates, own, {
      ...judgement,
      ...similar.of(subject, own.indexes),
      subject,
      threshold,
      calibration,
      nowMs,
    }),
  )
  return {
    galleryId,
    modelId,
    checkedAtUtc: formatUtc(nowMs),
    subjects: subjects.length,
    templates: subjectOf.length,
    /** Templates that cannot be decrypted. */
    unreadable,
    /** Faces that have only templates of other models. */
    otherFaces,
    /** The default threshold of a search in the gallery. */
    threshold,
    predictedMisses: predictMisses(judged, limits.thresholdScore),
    /** The number of subjects with each issue. */
    issues: countIssues(results),
    /** Pairs of subjects that are probably one person, the most similar first; at most 1,000. */
    duplicates: similar.duplicates,
    /** All subjects, those with the most urgent issue first. */
    results: results.toSorted((a, b) => urgencyOf(a) - urgencyOf(b)),
  }
}

/** Look-alikes are reported from so far below the threshold. */
const nearThreshold = 0.05

function groupTemplates(subjectOf: Int32Array, subjects: number): readonly (readonly number[])[] {
  const groups: number[][] = Array.from({ length: subjects }, () => [])
  for (const [index, subject] of subjectOf.entries()) groups[subject]?.push(index)
  return groups
}

type SubjectFacts = PictureJudgement &
  ReturnType<SimilarSubjects['of']> &
  Pick<SimilarOptions, 'calibration' | 'threshold'> & {
    readonly subject: number
    readonly nowMs: number
  }

function describeSubject(templates: GalleryTemplates, own: OwnPictures, facts: SubjectFacts) {
  const { subject, threshold, nowMs, isDuplicate, isLookAlike, lookAlikes } = facts
  const pictures = describePictures(templates, own, facts)
  const dates = own.indexes.map((index) => templates.faces[index]?.createdAtUtc ?? '')
  const newestPictureAtUtc = dates.toSorted().at(-1) ?? ''
  const hasIssue = (issue: PictureIssue) => pictures.some((picture) => picture.issue === issue)
  const missed = pictures.filter(({ similarity }) => (similarity ?? 1) < threshold)
  const has: Readonly<Record<HealthIssue, boolean>> = {
    otherPerson: hasIssue('otherPerson'),
    differentPeople: hasIssue('differentPeople'),
    duplicate: isDuplicate,
    harmful: hasIssue('harmful'),
    lookAlike: isLookAlike,
    missed: missed.length * 2 >= pictures.length,
    oldPictures: Date.parse(newestPictureAtUtc) < nowMs - pictureAgeMaxDays * dayMs,
    onePicture: pictures.length === 1,
  }
  const issues = healthIssues.filter((issue) => has[issue])
  const name = subjectNameAt(templates.subjects, subject)
  return { ...name, issues, newestPictureAtUtc, pictures, lookAlikes }
}

function describePictures(
  templates: GalleryTemplates,
  own: OwnPictures,
  { calibration, foreign, issues }: SubjectFacts,
) {
  return own.indexes.map((index, picture) => {
    const others = otherPictures(own, picture)
    const score = own.scoreAgainst(picture, others)
    const owner = foreign.get(picture) ?? null
    return {
      faceId: templates.faces[index]?.faceId ?? '',
      /** The similarity to the other pictures of the subject; null for a subject with one picture. */
      similarity: others.length === 0 ? null : roundSimilarity(similarityAt(score, calibration)),
      issue: issues.get(picture) ?? null,
      /** The subject that the picture of another person matches, if there is one. */
      belongsTo: owner === null ? null : subjectNameAt(templates.subjects, owner),
    }
  })
}

function countIssues(results: readonly SubjectHealth[]): Record<HealthIssue, number> {
  const countOf = (issue: HealthIssue): number =>
    results.filter(({ issues }) => issues.includes(issue)).length
  return Object.fromEntries(healthIssues.map((issue) => [issue, countOf(issue)])) as Record<
    HealthIssue,
    number
  >
}

/** Subjects without an issue are last. */
function urgencyOf({ issues: [first] }: SubjectHealth): number {
  return first === undefined ? healthIssues.length : healthIssues.indexOf(first)
}
