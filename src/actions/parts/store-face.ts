import type { FaceToEnroll } from '../../gallery/enrollment.ts'
import type { FaceMatchScore, SubjectMatch } from '../../gallery/match.ts'
import { mapSequential } from '../../lib/account-context.ts'
import { ActionError, type ActionErrorCode } from '../../lib/errors.ts'
import type { ReadTx, Tx } from '../../store/database.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import type { ActionCall } from '../action.ts'
import { enrollmentMinima } from './quality-reasons.ts'
import type { ExtractOptions, ProbeFace } from './extract-probes.ts'

export type StoreFaceCall = Pick<ActionCall<unknown>, 'caller' | 'services'>

/**
 * Returns what to extract from a face that is to be stored: templates of previous models to compare
 * it with older subjects and, if the project stores crops, a crop for later models.
 */
export async function storeExtractOptions({
  caller,
  services,
}: StoreFaceCall): Promise<ExtractOptions> {
  const { subjects, matching } = services
  const { storeCrops } = await subjects.read((reading) =>
    subjects.switches(reading, caller.projectId),
  )
  const previousTemplates = await matching.formerModels(caller.galleryId)
  return { previousTemplates, contextCrops: storeCrops }
}

type FaceToAdd = {
  readonly probe: ProbeFace
  /** Adds the face even if it does not resemble the subject. */
  readonly force: boolean
  /** Faces that the call removes; the same face can be added in their place. */
  readonly removedFaceIds?: readonly string[] | undefined
}

/**
 * Adds a face to a subject if it resembles the subject. A face of the same picture is not added twice.
 *
 * @returns the face, whether it was added, and the uncalibrated score of the comparison with the
 *   subject; the score is undefined if none was possible.
 * @throws ActionError SUBJECT_FACE_MISMATCH or MODEL_MISMATCH unless forced, TEMPLATE_LIMIT_REACHED,
 *   GALLERY_FULL.
 */
export async function addMatchingFace(
  call: StoreFaceCall,
  tx: Tx,
  subject: SubjectRow,
  { probe, force, removedFaceIds = [] }: FaceToAdd,
) {
  const { subjects, matching } = call.services
  const best = await matching.matchSubject(tx, subject, probe.probes)
  if (!force) {
    if (best && best.similarity < addedFaceSimilarityMin)
      throw subjectMismatch(best, addedFaceSimilarityMin, { ...subject, imageIndex: 0 })
    if (!best) await requireNoFaces(call, tx, subject)
  }
  const { identicalFaceId } = best ?? {}
  if (identicalFaceId !== undefined && !removedFaceIds.includes(identicalFaceId))
    return { faceId: identicalFaceId, isAdded: false, score: best?.score }
  const faceId = await subjects.addFace(tx, subject, await toNewFace(call, tx, probe))
  return { faceId, isAdded: true, score: best?.score }
}

/**
 * The lowest similarity to the subject of one added face: of different people, one pair in ten reaches
 * it. It refuses mistakes; a picture of the same person that differs much is accepted.
 */
export const addedFaceSimilarityMin = 0.5

/** @param similarityMin the limit that the face does not reach. */
export function subjectMismatch(
  { similarity }: Pick<SubjectMatch, 'similarity'>,
  similarityMin: number,
  { subjectId, imageIndex }: { readonly subjectId?: string; readonly imageIndex: number },
): ActionError {
  return new ActionError(
    'SUBJECT_FACE_MISMATCH',
    `the similarity of the face to the subject is ${similarity.toFixed(4)}, below ${similarityMin}`,
    {
      imageIndex,
      ...(subjectId !== undefined && { subjectId }),
      hint: 'Check the id of the subject and the picture; send force true if you are certain.',
    },
  )
}

/**
 * Accepts every face for a subject without faces.
 *
 * @throws ActionError MODEL_MISMATCH if the subject has faces, none of which could be compared.
 */
export async function requireNoFaces(
  { services: { subjects } }: StoreFaceCall,
  tx: ReadTx,
  { galleryId, subjectId }: SubjectRow,
): Promise<void> {
  if ((await subjects.listFaces(tx, { galleryId, subjectId, limit: 1 })).length > 0)
    throw new ActionError(
      'MODEL_MISMATCH',
      'the subject has no template of a loaded model to compare the face with',
      {
        subjectId,
        hint: 'Activate the model that created its templates, or send force true to add the face without the comparison.',
      },
    )
}

/** The level `high`: one false match in 10⁵ comparisons. */
const autoEnrollSimilarityMin = 0.9

/** The errors of a subject or gallery without room for another face. */
export const capacityErrors: ReadonlySet<ActionErrorCode> = new Set([
  'TEMPLATE_LIMIT_REACHED',
  'GALLERY_FULL',
])

/**
 * Stores the probe of a verification as one more face of a subject that has no template of the active
 * model, so that the subject can still be matched after a change of the model. It does so only if the
 * project has enabled it, enrollment would accept the face, and a previous model matches it reliably.
 *
 * @returns the id of the new face; undefined if none was added or there is no capacity.
 */
export async function autoEnroll(
  call: StoreFaceCall,
  tx: Tx,
  subject: SubjectRow,
  { probe, best }: { readonly probe: ProbeFace; readonly best: FaceMatchScore },
): Promise<string | undefined> {
  const { subjects, matching } = call.services
  const isReliable =
    best.similarity >= autoEnrollSimilarityMin && probe.qualityScore >= enrollmentMinima.minQuality
  if (!isReliable || (await matching.modelsOf(tx, subject)).hasActive) return undefined
  if (!(await subjects.switches(tx, call.caller.projectId)).autoEnroll) return undefined
  try {
    return await subjects.addFace(tx, subject, await toNewFace(call, tx, probe))
  } catch (error) {
    if (error instanceof ActionError && capacityErrors.has(error.code)) return undefined
    throw error
  }
}

/** Returns the face to store. It includes the crop only if the project still stores crops. */
export async function toNewFace(
  { caller, services }: StoreFaceCall,
  tx: Tx,
  probe: ProbeFace,
): Promise<FaceToEnroll> {
  const { template, qualityScore, contextCrop } = probe
  const { projectId } = caller
  if (contextCrop === undefined || !(await services.subjects.switches(tx, projectId)).storeCrops)
    return { template, qualityScore }
  const jpeg = Buffer.from(contextCrop, 'base64')
  return { template, qualityScore, crop: { jpeg, projectId } }
}

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
