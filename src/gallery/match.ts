import type { SubjectRow } from '../store/gallery-schema.ts'
import { findSubjectTemplates, type StoredTemplate } from '../store/gallery/templates.ts'
import type { ReadTx } from '../store/tx.ts'
import type { Template } from '../vision/embed/template.ts'
import type { Calibrations } from './calibration/calibrations.ts'
import type { DecryptStoredTemplate } from './keys/decrypt-stored-template.ts'
import { selectTemplate } from './select-template.ts'
import {
  squaredDistance,
  roundSimilarity,
  scoreOf,
  similarityOf,
} from './calibration/similarity.ts'
import {
  findFaceChanges,
  afterAllFaceIds,
  type FaceChange,
  type FaceChangeCursor,
} from '../store/gallery/faces.ts'
import { hasExpired } from '../store/gallery/expired-subjects.ts'
import { mapSequential } from '../lib/account-context.ts'

/** The result of comparing two templates. */
export type MatchScore = {
  /** Calibrated, 0..1, four decimals. */
  readonly similarity: number
  /** Uncalibrated score of the model. */
  readonly score: number
  /** The model of both templates. */
  readonly modelId: string
}
export type FaceMatchScore = MatchScore & { readonly faceId: string }
/** The best face of a subject that a search has found. */
export type SearchHit = FaceMatchScore & { readonly subjectId: string }

/** The best match of a subject. */
export type SubjectMatch = FaceMatchScore & {
  /**
   * The face that has the vector of the first probe, in its model: it was created from the same
   * picture. A face with templates of other models only is not identical, so that an enrollment adds
   * a template of the active model.
   */
  readonly identicalFaceId?: string
}

/** @throws Error if the model of `a` is not loaded; AssertionError if `b` is of another model. */
export function matchTemplates(a: Template, b: Template, calibrations: Calibrations): MatchScore {
  const calibration = calibrations.of(a.modelId)
  if (!calibration) throw new Error(`there is no calibration for templates of ${a.modelId}`)
  const similarity = roundSimilarity(similarityOf(a, b, calibration))
  return { similarity, score: scoreOf(a, b), modelId: a.modelId }
}

export type MatchOptions = {
  readonly decryptStored: DecryptStoredTemplate
  readonly calibrations: Calibrations
}

/**
 * Returns the match of the subject's face that is most similar to the probe, or undefined if none
 * can be compared.
 *
 * @param probes templates of the probe, one per model. Each face is compared by one model.
 */
export async function matchSubject(
  reading: ReadTx,
  subject: SubjectRow,
  probes: readonly Template[],
  options: MatchOptions,
): Promise<SubjectMatch | undefined> {
  const templates = await selectedTemplatesOf(reading, subject.subjectId, options.calibrations)
  const matches = await mapSequential(templates, (stored) =>
    matchStoredTemplate(reading, stored, probes, options),
  )
  const [best] = matches.flat().toSorted((a, b) => b.similarity - a.similarity || b.score - a.score)
  const identical = matches
    .flat()
    .find(({ isIdentical, modelId }) => isIdentical && modelId === probes[0]?.modelId)
  return best && { ...best, ...(identical && { identicalFaceId: identical.faceId }) }
}

/** Returns no match if no probe has the template's model, or it cannot be decrypted. */
async function matchStoredTemplate(
  reading: ReadTx,
  stored: StoredTemplate,
  probes: readonly Template[],
  { decryptStored, calibrations }: MatchOptions,
): Promise<(FaceMatchScore & { readonly isIdentical: boolean })[]> {
  const probe = probes.find(({ modelId }) => modelId === stored.modelId)
  const template = probe && (await decryptStored(reading, stored))
  if (!template) return []
  const isIdentical = squaredDistance(probe.vector, template.vector) === 0
  const match = matchTemplates(probe, template, calibrations)
  return [{ faceId: stored.faceId, isIdentical, ...match }]
}

/** Returns the models by which the faces of a subject are compared. */
export async function modelsOfSubject(
  reading: ReadTx,
  subjectId: string,
  calibrations: Calibrations,
): Promise<readonly string[]> {
  const templates = await selectedTemplatesOf(reading, subjectId, calibrations)
  return [...new Set(templates.map(({ modelId }) => modelId))]
}

async function selectedTemplatesOf(reading: ReadTx, subjectId: string, calibrations: Calibrations) {
  const byFace = Map.groupBy(await findSubjectTemplates(reading, subjectId), ({ faceId }) => faceId)
  return [...byFace.values()].flatMap((templates) => selectTemplate(templates, calibrations) ?? [])
}

/** The changes that are read at once. Deleting a group or re-embedding a gallery makes many more. */
const changesPerPage = 2_000

export type ChangedSinceQuery = {
  readonly galleryId: string
  /** Number of the gallery's last change that the search included. */
  readonly sequence: number
  readonly probes: readonly Template[]
}

/**
 * Matches the probe with all faces that have changed since a search. Returns the best hit for each
 * subject. Together with the search, and in the transaction that uses both results, no committed face
 * is missed.
 */
export async function matchChangedSince(
  reading: ReadTx,
  { galleryId, sequence, probes }: ChangedSinceQuery,
  options: MatchOptions & { readonly nowUtc: string },
): Promise<SearchHit[]> {
  const bestHits = new Map<string, SearchHit>()
  for await (const face of facesChangedSince(reading, galleryId, sequence)) {
    const stored = selectTemplate(face.templates, options.calibrations)
    if (!stored || hasExpired(stored, options.nowUtc)) continue
    const { subjectId } = stored
    for (const match of await matchStoredTemplate(reading, stored, probes, options)) {
      const best = bestHits.get(subjectId)
      if (!best || match.similarity > best.similarity)
        bestHits.set(subjectId, { ...match, subjectId })
    }
  }
  return [...bestHits.values()]
}

/** Yields all changed faces that still exist. */
async function* facesChangedSince(
  reading: ReadTx,
  galleryId: string,
  sequence: number,
): AsyncGenerator<NonNullable<FaceChange['face']>> {
  let cursor: FaceChangeCursor = { sequence, faceId: afterAllFaceIds }
  for (let isLast = false; !isLast;) {
    const changes = await findFaceChanges(reading, galleryId, cursor, changesPerPage)
    for (const { face } of changes) if (face) yield face
    cursor = changes.at(-1) ?? cursor
    isLast = changes.length < changesPerPage
  }
}
