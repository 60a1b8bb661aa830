import { z } from 'zod'
import { ActionError } from '../../../lib/errors.ts'
import type { StoredPicture } from './add-pictures.ts'
import { refusalError, type RefusedPicture } from './extract-pictures.ts'
import { face } from '../../schemas/fields.ts'
import * as response from '../response-fields.ts'

/** The result for one of several pictures to enroll. */
export const pictureResultSchema = z
  .object({
    index: z.int().min(0).meta({ description: 'The position in `params.images`.' }),
    enrolled: z.boolean(),
    faceId: z.uuid().optional().meta({
      description: 'The face of the picture; with FACE_ALREADY_ENROLLED the existing one.',
    }),
    face: face.optional().meta({ description: 'The face of an enrolled picture.' }),
    error: z
      .object({
        code: z.string(),
        message: z.string(),
        path: z.string(),
        hint: z.string().optional(),
      })
      .optional()
      .meta({ description: 'Why the picture was refused.' }),
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
