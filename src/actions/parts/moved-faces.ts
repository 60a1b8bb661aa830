import { mapSequential } from '../../lib/account-context.ts'
import { ActionError } from '../../lib/errors.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import { addedFaceSimilarityMin, requireNoFaces, type StoreFaceCall } from './store-face.ts'

type MoveCall = StoreFaceCall & {
  readonly params: { readonly addFaceIds?: readonly string[] | undefined; readonly force: boolean }
}

/**
 * Requires that faces of other subjects resemble the subject that they move to, as a new face of it
 * must.
 *
 * @throws ActionError SUBJECT_FACE_MISMATCH or MODEL_MISMATCH unless forced; INVALID_REQUEST as
 *   `findMovingFaces`.
 */
export async function requireSimilarFaces(call: MoveCall, target: SubjectRow): Promise<void> {
  const { subjects, matching } = call.services
  const { addFaceIds = [], force } = call.params
  if (force || addFaceIds.length === 0) return
  const moving = await subjects.read((reading) =>
    subjects.findMovingFaces(reading, { target, faceIds: addFaceIds }),
  )
  const faces = moving.flatMap(({ source, faceIds }) =>
    faceIds.map((faceId) => ({ subject: source, faceId })),
  )
  await mapSequential(faces, async (face) => {
    const [stored] = await matching.readStoredFaces(face)
    const best = await subjects.read((reading) =>
      matching.matchSubject(reading, target, stored?.templates ?? []),
    )
    if (!best) await subjects.read((reading) => requireNoFaces(call, reading, target))
    else if (best.similarity < addedFaceSimilarityMin)
      throw new ActionError(
        'SUBJECT_FACE_MISMATCH',
        `params.addFaceIds: the similarity of the face ${face.faceId} to the subject is ${best.similarity.toFixed(4)}, below ${addedFaceSimilarityMin}`,
        {
          path: 'params.addFaceIds',
          subjectId: target.subjectId,
          hint: 'Check the ids of the face and the subject; send force true if you are certain.',
        },
      )
  })
}
