import type { FaceToEnroll } from '../../gallery/enroll.ts'
import type { FaceMatchScore } from '../../gallery/match.ts'
import { ActionError, type ActionErrorCode } from '../../lib/errors.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import type { Tx } from '../../store/tx.ts'
import type { ActionCall } from '../action.ts'
import { enrollmentMinima } from './assess-enrollment.ts'
import type { ExtractOptions, ProbeFace } from './extract-probes.ts'

type StoreFaceCall = Pick<ActionCall<unknown>, 'caller' | 'services'>

/**
 * Returns what to extract from a face that is to be stored: templates of previous models to compare
 * it with older subjects and, if the project stores crops, a crop for later models.
 */
export async function storeExtractOptions({
  caller,
  services,
}: StoreFaceCall): Promise<ExtractOptions> {
  const { gallery } = services
  const { storeCrops } = await gallery.read((reading) =>
    gallery.switches(reading, caller.projectId),
  )
  const previousTemplates = await gallery.formerModels(caller.galleryId)
  return { previousTemplates, contextCrops: storeCrops }
}

/** 10 % of comparisons of different people are at least as similar; a lower score is a mismatch. */
const mismatchSimilarityMin = 0.5

/**
 * Adds a face to a subject if it resembles the subject.
 *
 * @returns the id of the face.
 * @throws ActionError SUBJECT_FACE_MISMATCH or MODEL_MISMATCH unless forced, TEMPLATE_LIMIT_REACHED,
 *   GALLERY_FULL.
 */
export async function addMatchingFace(
  call: StoreFaceCall,
  tx: Tx,
  subject: SubjectRow,
  { probe, force }: { readonly probe: ProbeFace; readonly force: boolean },
): Promise<string> {
  if (!force) await requireMatch(call, tx, subject, probe)
  return call.services.gallery.addFace(tx, subject, await toNewFace(call, tx, probe))
}

/** Accepts every face for a subject without faces. */
async function requireMatch(
  { services: { gallery } }: StoreFaceCall,
  tx: Tx,
  subject: SubjectRow,
  probe: ProbeFace,
): Promise<void> {
  const best = await gallery.matchSubject(tx, subject, probe.probes)
  if (best && best.similarity < mismatchSimilarityMin)
    throw new ActionError(
      'SUBJECT_FACE_MISMATCH',
      `the similarity of the face to the subject is ${best.similarity.toFixed(2)}, below ${mismatchSimilarityMin}`,
    )
  const { galleryId, subjectId } = subject
  if (!best && (await gallery.listFaces(tx, { galleryId, subjectId, limit: 1 })).length > 0)
    throw new ActionError(
      'MODEL_MISMATCH',
      'the subject has no template of a loaded model to compare the face with; load the model that ' +
        'created its templates, or send force true to add the face without the comparison',
    )
}

/** The level `high`: one false match in 10⁵ comparisons. */
const autoEnrollSimilarityMin = 0.9

const capacityErrors: ReadonlySet<ActionErrorCode> = new Set([
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
  const { gallery } = call.services
  const isReliable =
    best.similarity >= autoEnrollSimilarityMin && probe.qualityScore >= enrollmentMinima.minQuality
  if (!isReliable || (await gallery.modelsOf(tx, subject)).hasActive) return undefined
  if (!(await gallery.switches(tx, call.caller.projectId)).adopt) return undefined
  try {
    return await gallery.addFace(tx, subject, await toNewFace(call, tx, probe))
  } catch (error) {
    if (error instanceof ActionError && capacityErrors.has(error.code)) return undefined
    throw error
  }
}

/** Returns the face to store. It includes the crop only if the project still stores crops. */
async function toNewFace(
  { caller, services }: StoreFaceCall,
  tx: Tx,
  probe: ProbeFace,
): Promise<FaceToEnroll> {
  const { template, qualityScore, contextCrop } = probe
  const { projectId } = caller
  if (contextCrop === undefined || !(await services.gallery.switches(tx, projectId)).storeCrops)
    return { template, qualityScore }
  const jpeg = Buffer.from(contextCrop, 'base64')
  return { template, qualityScore, crop: { jpeg, projectId } }
}
