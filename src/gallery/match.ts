import { squaredDistance } from '../lib/density/vectors.ts'
import { mergeTemplates, spreadShares } from '../lib/density/merge-templates.ts'
import { GalleryChangedError } from '../lib/errors.ts'
import type { ReadTx } from '../store/database.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import { hasExpired } from '../store/gallery/expired-subjects.ts'
import {
  type ChangedSubject,
  type SubjectChangeCursor,
  afterAllSubjectIds,
  findSubjectChanges,
} from '../store/gallery/faces.ts'
import { type StoredTemplate, findSubjectTemplates } from '../store/gallery/templates.ts'
import type { Template } from '../vision/embed/template.ts'
import type { Calibrations } from './calibration/calibrations.ts'
import {
  correctedScore,
  isIdentical,
  roundSimilarity,
  scoreOf,
  similarityOfScore,
} from './calibration/similarity.ts'
import type { DecryptStoredTemplate } from './keys/template-encryption.ts'
import { selectTemplate } from './select-template.ts'

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
/** A subject that a search has found, with its face that is most similar to the probe. */
export type SearchHit = FaceMatchScore & {
  readonly subjectId: string
  /** False if no subject of the gallery had denials when the search began. */
  readonly mayBeDenied?: boolean | undefined
}

/** The match of a subject, with its face that is most similar to the probe. */
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
  const score = scoreOf(a, b)
  const compared = { score, isIdentical: isIdentical(a, b) }
  const similarity = roundSimilarity(similarityOfScore(compared, calibration))
  return { similarity, score, modelId: a.modelId }
}

export type MatchOptions = {
  readonly decryptStored: DecryptStoredTemplate
  readonly calibrations: Calibrations
}

/**
 * Returns the match of the subject, or undefined if none of its faces can be compared. The similarity
 * is that of its merged template; see `mergeFaces`.
 *
 * @param probes templates of the probe, one per model. Each face is compared by one model.
 */
export async function matchSubject(
  reading: ReadTx,
  subject: SubjectRow,
  probes: readonly Template[],
  options: MatchOptions,
): Promise<SubjectMatch | undefined> {
  const stored = await findSubjectTemplates(reading, [subject.subjectId])
  return (await matchStored(reading, stored, [probes], options))[0]
}

/** Matches the templates of one subject with faces, each with one template per model. */
async function matchStored(
  reading: ReadTx,
  stored: ChangedSubject['templates'],
  probeFaces: readonly (readonly Template[])[],
  { decryptStored, calibrations }: MatchOptions,
): Promise<(SubjectMatch | undefined)[]> {
  const faces = await readFaceTemplates(reading, stored, {
    decryptStored,
    models: calibrations,
    modelIds: probeFaces.flat().map(({ modelId }) => modelId),
  })
  const mergedFaces = mergeFaces(faces)
  const found = probeFaces.map((probes) => {
    const matches = probes.flatMap((probe) => {
      const merged = mergedFaces.find(({ modelId }) => modelId === probe.modelId)
      const face = merged && nearestFace(faces, probe)
      return face ? [{ faceId: face.faceId, ...matchTemplates(probe, merged, calibrations) }] : []
    })
    // Scores of two models cannot be compared: the first probe decides, as in a search.
    const [best] = matches.toSorted((a, b) => b.similarity - a.similarity)
    const identical = faces.find((face) => isSamePicture(face, probes[0]))
    return best && { ...best, ...(identical && { identicalFaceId: identical.faceId }) }
  })
  for (const { vector } of faces) vector.fill(0)
  return found
}

function isSamePicture(face: FaceTemplate, probe: Template | undefined): boolean {
  return face.modelId === probe?.modelId && squaredDistance(face.vector, probe.vector) === 0
}

/** Returns the models by which the faces of a subject are compared. */
export async function modelsOfSubject(
  reading: ReadTx,
  subjectId: string,
  calibrations: Calibrations,
): Promise<readonly string[]> {
  const templates = await findSubjectTemplates(reading, [subjectId])
  return [...new Set(selectTemplates(templates, calibrations).map(({ modelId }) => modelId))]
}

/** The changes that are read at once. The deletion of a group makes many more. */
const changesPerPage = 500

/**
 * The most templates of changed subjects that are decrypted and compared in a transaction, about 20 ms
 * with 20 faces: on SQLite, no other call runs meanwhile. Beside more changes, such as the renaming of a
 * group, a call searches again.
 */
const changedTemplatesMax = 200

export type ChangedSinceQuery = {
  readonly galleryId: string
  /** Number of the gallery's last change that the search included. */
  readonly sequence: number
  /** The templates of each face, one per model. */
  readonly faces: readonly (readonly Template[])[]
}

/**
 * Matches faces with all subjects that have changed since a search. Together with the search, and in
 * the transaction that uses both results, no committed face is missed.
 *
 * @returns the hits of each face.
 * @throws GalleryChangedError if the changed subjects have more than `changedTemplatesMax` templates.
 */
export async function matchChangedSince(
  reading: ReadTx,
  { galleryId, sequence, faces }: ChangedSinceQuery,
  options: MatchOptions & { readonly nowUtc: string },
): Promise<SearchHit[][]> {
  const hits = faces.map((): SearchHit[] => [])
  for (const { subjectId, templates } of await changedSince(reading, galleryId, sequence)) {
    const [first] = templates
    if (!first || hasExpired(first, options.nowUtc)) continue
    const matches = await matchStored(reading, templates, faces, options)
    for (const [index, match] of matches.entries())
      if (match) hits[index]?.push({ ...match, subjectId })
  }
  return hits
}

/** Returns the changed subjects; one that changes in several pages is there several times. */
async function changedSince(reading: ReadTx, galleryId: string, sequence: number) {
  const changed: ChangedSubject[] = []
  let templateCount = 0
  let cursor: SubjectChangeCursor | undefined = { sequence, subjectId: afterAllSubjectIds }
  while (cursor) {
    const changes = await findSubjectChanges(reading, galleryId, cursor, changesPerPage)
    for (const { templates } of changes.subjects) templateCount += templates.length
    if (templateCount > changedTemplatesMax) throw new GalleryChangedError()
    changed.push(...changes.subjects)
    cursor = changes.next
  }
  return changed
}

/** The template by which a face is compared. */
export type FaceTemplate = Template & { readonly faceId: string }

/**
 * The faces of a subject that are compared by one model, merged into one template. A similarity is
 * therefore the result of one comparison, however many faces the subject has.
 */
export type SubjectTemplate = Template & {
  /** The number of faces. */
  readonly faces: number
  /** The face, if it is the only one: the template is equal to its own. */
  readonly faceId?: string | undefined
}

type ReadFacesOptions = {
  readonly decryptStored: DecryptStoredTemplate
  readonly models: Pick<Calibrations, 'activeModelId' | 'formerModelIds'>
  /** Only faces that are compared by these models; by default, all. */
  readonly modelIds?: readonly string[]
}

/**
 * Decrypts the templates by which the faces of a subject are compared, in the order of the face ids.
 * Templates that cannot be decrypted are left out.
 *
 * @param stored the templates of the subject, of all models.
 */
export async function readFaceTemplates(
  reading: ReadTx,
  stored: readonly StoredTemplate[],
  { decryptStored, models, modelIds }: ReadFacesOptions,
): Promise<FaceTemplate[]> {
  const faces: FaceTemplate[] = []
  for (const row of selectTemplates(stored, models)) {
    if (modelIds && !modelIds.includes(row.modelId)) continue
    const template = await decryptStored(reading, row)
    if (template) faces.push({ faceId: row.faceId, ...template })
  }
  return faces
}

/** Selects the templates by which faces are compared, in the order of the face ids. */
export function selectTemplates<Stored extends Pick<StoredTemplate, 'faceId' | 'modelId'>>(
  stored: readonly Stored[],
  models: ReadFacesOptions['models'],
): Stored[] {
  const byFace = Map.groupBy(stored, ({ faceId }) => faceId)
  const selected = [...byFace.values()].flatMap((own) => selectTemplate(own, models) ?? [])
  return selected.sort((a, b) => (a.faceId < b.faceId ? -1 : 1))
}

/** Merges the faces of a subject. @returns one template per model. */
export function mergeFaces(faces: readonly FaceTemplate[]): SubjectTemplate[] {
  return [...Map.groupBy(faces, ({ modelId }) => modelId).values()].map((ofModel) => ({
    ...mergeTemplates(ofModel, spreadShares.subject),
    faces: ofModel.length,
    ...(ofModel.length === 1 && { faceId: ofModel[0]?.faceId }),
  }))
}

/** Returns the face of the probe's model that is most similar to the probe. */
export function nearestFace(faces: readonly FaceTemplate[], probe: Template) {
  const ofModel = faces.filter(({ modelId }) => modelId === probe.modelId)
  if (ofModel.length < 2) return ofModel[0]
  const scores = ofModel.map((face) => correctedScore(probe, face))
  return ofModel[scores.indexOf(Math.max(...scores))]
}
