import { z } from 'zod'
import type { SubjectMatch } from '../../../gallery/match.ts'
import type { Matching } from '../../../gallery/matching.ts'
import { ActionError } from '../../../lib/errors.ts'
import type { Tx } from '../../../store/database.ts'
import type { SubjectRow } from '../../../store/gallery-schema.ts'
import type { Template } from '../../../vision/embed/template.ts'
import { face } from '../../schemas/fields.ts'
import * as response from '../response-fields.ts'
import {
  type StoreFaceCall,
  addMatchingFace,
  capacityErrors,
  requireNoFaces,
  subjectMismatch,
} from '../store-face.ts'
import { type ExtractedPicture, type RefusedPicture, refusalError } from './extract-pictures.ts'
import texts from '../../schemas/field-texts.json' with { type: 'json' }

/** A picture with the face that was created from it, in this call or an earlier one. */
export type StoredPicture = ExtractedPicture & {
  readonly faceId: string
  /** False if the subject already had the template of the picture. */
  readonly isAdded: boolean
  /** Of the comparison with the subject; undefined if it had no face. */
  readonly score: number | undefined
}

type PicturesToSelect = {
  /** Undefined for a new subject. */
  readonly existing: SubjectRow | undefined
  readonly pictures: readonly ExtractedPicture[]
  /** The lowest similarity of a picture to the existing subject. */
  readonly similarityMin: number
}

/**
 * Selects the pictures that show the person of a subject. For a subject with faces, these are the
 * pictures that match the subject or, directly or through others, such a picture; for a new subject
 * the largest group of pictures that match each other.
 *
 * @throws ActionError MODEL_MISMATCH if the faces of the subject cannot be compared.
 */
export async function selectPictures(
  call: StoreFaceCall,
  tx: Tx,
  { existing, pictures, similarityMin }: PicturesToSelect,
) {
  const { matching } = call.services
  const matches: (SubjectMatch | undefined)[] = []
  if (existing)
    for (const { probe } of pictures)
      matches.push(await matching.matchSubject(tx, existing, probe.probes))
  const isComparable = matches.some((match) => match !== undefined)
  if (existing && !isComparable) await requireNoFaces(call, tx, existing)
  const templates = pictures.map(({ probe }) => probe.template)
  const similarityOf = similarityByPosition(matching, templates)
  const similar = matches.flatMap((match, position) =>
    match && match.similarity >= similarityMin ? [position] : [],
  )
  const group = isComparable
    ? growGroup(pictures.length, similar, similarityOf)
    : largestGroup(pictures.length, similarityOf)
  const accepted = pictures.filter((_, position) => group.includes(position))
  const refused = pictures.flatMap(({ index }, position): RefusedPicture[] => {
    const match = matches[position]
    const error = match
      ? subjectMismatch(match, similarityMin, { ...existing, imageIndex: index })
      : pictureMismatch()
    return group.includes(position) ? [] : [{ index, error }]
  })
  return { accepted, refused }
}

function pictureMismatch(): ActionError {
  return new ActionError(
    'SUBJECT_FACE_MISMATCH',
    `the similarity of the face to the other pictures of the call is below ${samePersonSimilarityMin}`,
    { hint: 'Send only pictures of one person; send force true if you are certain.' },
  )
}

/** Adds pictures to a subject, in their order, as far as there is room for them. */
export async function addPictures(
  call: StoreFaceCall,
  tx: Tx,
  subject: SubjectRow,
  pictures: readonly ExtractedPicture[],
): Promise<{ readonly stored: readonly StoredPicture[]; readonly refused: RefusedPicture[] }> {
  const stored: StoredPicture[] = []
  const refused: RefusedPicture[] = []
  for (const picture of pictures) {
    try {
      const { probe } = picture
      const added = await addMatchingFace(call, tx, subject, { probe, force: true })
      stored.push({ ...picture, ...added })
    } catch (error) {
      if (!(error instanceof ActionError) || !capacityErrors.has(error.code)) throw error
      refused.push({ index: picture.index, error })
    }
  }
  return { stored, refused }
}

/** The result for one of several pictures to enroll. */
export const pictureResultSchema = z
  .object({
    index: z.int().min(0).describe(texts.addPictures.index),
    enrolled: z.boolean(),
    faceId: z.uuid().optional().describe(texts.addPictures.faceId),
    face: face.optional().describe(texts.addPictures.face),
    error: z
      .object({
        code: z.string(),
        message: z.string(),
        path: z.string(),
        hint: z.string().optional(),
      })
      .optional()
      .describe(texts.addPictures.error),
  })
  .meta({ id: 'PictureResult' })

/** The results of all pictures of a call. */
type PictureResults = {
  readonly stored: readonly StoredPicture[]
  readonly refused: readonly RefusedPicture[]
}

/** Returns the result of each picture, in the order of the images. */
export function pictureResults({
  stored,
  refused,
}: PictureResults): z.output<typeof pictureResultSchema>[] {
  const enrolled = addedOf(stored).map(({ index, faceId, analysis, probe }) => {
    return { index, enrolled: true, faceId, face: response.toFaceValue(analysis, probe, 0) }
  })
  const faceIds = new Map(stored.map(({ index, faceId }) => [index, faceId]))
  const others = [...refused, ...alreadyEnrolled(stored)].map(({ index, error }) => {
    const { code, message } = error
    const { path = `params.images[${index}]`, hint } = error.problems[0] ?? {}
    const faceId = faceIds.get(index)
    const reason = { code, message, path, ...(hint !== undefined && { hint }) }
    return { index, enrolled: false, ...(faceId && { faceId }), error: reason }
  })
  return [...enrolled, ...others].toSorted((a, b) => a.index - b.index)
}

function addedOf(stored: readonly StoredPicture[]): StoredPicture[] {
  return stored.filter(({ isAdded }) => isAdded)
}

/** A picture is refused if the subject already has its template. */
function alreadyEnrolled(
  stored: readonly StoredPicture[],
  details: { readonly subjectId?: string } = {},
): RefusedPicture[] {
  return stored
    .filter(({ isAdded }) => !isAdded)
    .map(({ index, faceId }) => {
      const message = `the subject already has the template of this picture: face ${faceId}`
      return { index, error: new ActionError('FACE_ALREADY_ENROLLED', message, details) }
    })
}

/**
 * Returns the picture whose face a response describes: the first that was added. A single picture that
 * was already stored is a success.
 *
 * @throws ActionError if no picture was enrolled.
 */
export function requireStored(
  params: response.ImageSelection,
  { stored, refused }: PictureResults,
  subjectId: string,
): StoredPicture {
  const main = addedOf(stored)[0] ?? (params.allImages ? undefined : stored[0])
  if (!main) throw refusalError([...refused, ...alreadyEnrolled(stored, { subjectId })])
  return main
}

/** Returns how many images of a successful call are not charged: those that added no face. */
export function unbilledCount(
  { allImages, images }: response.ImageSelection,
  { stored }: PictureResults,
): number {
  const addedCount = addedOf(stored).length
  return allImages || addedCount === 0 ? images.length - addedCount : 0
}

export const repeatedPictureWarning =
  'the subject already has the template of this picture; it was not added again'

/** Returns `warnings` of a successful call. */
export function resultWarnings(
  params: response.ImageSelection,
  { stored }: PictureResults,
  embeddingCount: number,
) {
  const added = addedOf(stored)
  return response.toWarnings(
    ...response.unusedImages(params),
    ...(!params.allImages && added.length < stored.length ? [repeatedPictureWarning] : []),
    ...response.enrollWarnings(embeddingCount, added),
  )
}

/**
 * The lowest similarity of two faces that are stored or accepted as one person without a threshold of
 * the caller: with `allImages`, and for a liveness token. One false match in 10,000 comparisons. At
 * lower similarities the networks separate some groups of people poorly, and with many pictures another person has many chances.
 */
export const samePersonSimilarityMin = 0.8

/** Returns the similarity of two pictures, by their positions. */
type PictureSimilarity = (a: number, b: number) => number

/** Returns the similarity of pictures by their templates, in the order of the positions. */
export function similarityByPosition(
  { compare }: Pick<Matching, 'compare'>,
  templates: readonly Template[],
): PictureSimilarity {
  return (a, b) => {
    const [first, second] = [templates[a], templates[b]]
    return first && second ? compare(first, second).similarity : 0
  }
}

/**
 * Returns the positions of the pictures that show one person, ascending. A picture belongs to the
 * group if it is similar to any picture of the group.
 *
 * @param seeds positions of pictures that certainly show the person.
 */
export function growGroup(
  count: number,
  seeds: readonly number[],
  similarityOf: PictureSimilarity,
  similarityMin = samePersonSimilarityMin,
): number[] {
  const group = new Set(seeds)
  // The iteration also visits the positions that are added during it.
  for (const member of group)
    for (let other = 0; other < count; other++)
      if (!group.has(other) && similarityOf(member, other) >= similarityMin) group.add(other)
  return [...group].toSorted((a, b) => a - b)
}

/**
 * Returns the positions of the largest group of pictures that show one person; of groups of the same
 * size, the one with the first picture.
 */
export function largestGroup(
  count: number,
  similarityOf: PictureSimilarity,
  similarityMin = samePersonSimilarityMin,
): number[] {
  let largest: number[] = []
  const grouped = new Set<number>()
  for (let first = 0; first < count; first++) {
    if (grouped.has(first)) continue
    const group = growGroup(count, [first], similarityOf, similarityMin)
    for (const member of group) grouped.add(member)
    if (group.length > largest.length) largest = group
  }
  return largest
}
