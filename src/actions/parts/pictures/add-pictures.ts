import { ActionError } from '../../../lib/errors.ts'
import type { SubjectRow } from '../../../store/gallery-schema.ts'
import type { Tx } from '../../../store/database.ts'
import type { SubjectMatch } from '../../../gallery/match.ts'
import {
  addMatchingFace,
  capacityErrors,
  requireNoFaces,
  subjectMismatch,
  type StoreFaceCall,
} from '../store-face.ts'
import type { ExtractedPicture, RefusedPicture } from './extract-pictures.ts'
import {
  growGroup,
  largestGroup,
  samePersonSimilarityMin,
  similarityByPosition,
} from './same-person.ts'

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

type SelectedPictures = {
  readonly accepted: readonly ExtractedPicture[]
  readonly refused: readonly RefusedPicture[]
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
): Promise<SelectedPictures> {
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
  const refused = pictures.flatMap(({ index }, position) => {
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
