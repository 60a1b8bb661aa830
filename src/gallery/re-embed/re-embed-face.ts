import { ActionError, HttpError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { mapSequential } from '../../lib/account-context.ts'
import { findCrop, findReEmbedSource } from '../../store/gallery/crops.ts'
import type { ReadTx, Store, Tx } from '../../store/database.ts'
import { markSubjectChanged } from '../../store/gallery/faces.ts'
import { recordGalleryChange, findGallery, lockGallery } from '../../store/gallery/galleries.ts'
import {
  addTemplate,
  findFaceTemplates,
  type StoredTemplate,
} from '../../store/gallery/templates.ts'
import type { AnalysisRequest, FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import type { EncodedImage } from '../../vision/image/input/encoded-image.ts'
import type { Template } from '../../vision/embed/template.ts'
import type { Calibrations } from '../calibration/calibrations.ts'
import { matchTemplates } from '../match.ts'
import { decryptCrop } from '../keys/subject-encryption.ts'
import { type DecryptStoredTemplate, encryptTemplate } from '../keys/template-encryption.ts'
import type { GallerySearch } from '../search/gallery-search.ts'
import type { SubjectKeys } from '../keys/keyring.ts'

/** Analyzes a crop. */
export type CropVisionClient = {
  /**
   * @throws ActionError if the image cannot be used.
   * @throws HttpError 503 if no worker was free in time or the worker died.
   */
  readonly analyzeImage: (
    image: EncodedImage,
    request: AnalysisRequest,
    call: { readonly accountId: string; readonly projectId: string; readonly path: string },
  ) => Promise<CropAnalysis>
}

/** The used part of an image analysis. */
type CropAnalysis = Pick<ImageAnalysis, 'width' | 'height'> & {
  readonly faces: readonly CropFace[]
}
type CropFace = Pick<FaceResult, 'boundingBox' | 'template' | 'previousTemplates'>

export type ReEmbedFaceOptions = {
  readonly store: Store
  readonly keys: SubjectKeys
  readonly decryptStored: DecryptStoredTemplate
  readonly search: GallerySearch
  readonly calibrations: Calibrations
  readonly log: Pick<Log, 'warn' | 'error'>
}

/**
 * - `reEmbedded`: the face now has a template of the active model.
 * - `failed`: the crop shows no face, or a different face than its templates.
 * - `skipped`: there is nothing left to do.
 */
export type ReEmbedOutcome = 'reEmbedded' | 'failed' | 'skipped'

/** The worker queue treats crops as calls of a project with this id. */
const reEmbedProjectId = 're-embed'

/**
 * Creates a template of the active model from the stored crop of a face. Writes nothing if the face
 * or its crop was deleted meanwhile.
 *
 * @throws HttpError 503 if no worker was free in time or the worker died.
 */
export async function reEmbedFace(
  options: ReEmbedFaceOptions,
  faceId: string,
  vision: CropVisionClient,
): Promise<ReEmbedOutcome> {
  const { store, calibrations, log } = options
  const crop = await store.read((reading) => decryptForReEmbed(reading, faceId, options))
  if (crop === 'skipped' || crop === 'failed') return crop
  const face = await findCenterFace(crop, vision, calibrations)
  if (!face?.template || !isSameFace(face, crop.templates, calibrations)) {
    log.warn({ faceId }, 'a stored crop does not show its face')
    return 'failed'
  }
  const { template } = face
  return store.write((tx) => writeTemplate(tx, faceId, template, options))
}

type DecryptedCrop = {
  readonly jpeg: Buffer
  /** The face's templates of loaded models. */
  readonly templates: readonly Template[]
}

async function decryptForReEmbed(
  reading: ReadTx,
  faceId: string,
  { keys, decryptStored, calibrations, log }: ReEmbedFaceOptions,
): Promise<DecryptedCrop | 'skipped' | 'failed'> {
  const source = await findReEmbedSource(reading, faceId)
  const [first] = source?.templates ?? []
  if (!source || !first) return 'skipped'
  const { galleryId, subjectId } = first
  const accountId = (await findGallery(reading, galleryId))?.accountId ?? ''
  const comparable = source.templates.filter(
    ({ modelId }) => calibrations.of(modelId) !== undefined,
  )
  const decrypted = await mapSequential(comparable, (row) => decryptStored(reading, row))
  const templates = decrypted.filter((template) => template !== undefined)
  try {
    const binding = { accountId, galleryId, subjectId, faceId }
    const key = await keys.unwrap(reading, first)
    return { jpeg: decryptCrop(key, binding, source.crop.ciphertext), templates }
  } catch (error) {
    if (error instanceof HttpError) throw error
    const alert = { alert: 'crop-tampered', galleryId, subjectId, faceId }
    log.error({ ...alert, err: error }, 'a stored crop cannot be decrypted; it is not used')
    return 'failed'
  }
}

/** Permissive limits, because detection has already found the face in this crop once. */
const anyFaceOptions = { minFaceConfidence: 0.3, minFaceSizePx: 1, maxFaces: 10, crops: false }

/** Returns the face nearest to the center, with templates of the models that the face has. */
async function findCenterFace(
  { jpeg, templates }: DecryptedCrop,
  vision: CropVisionClient,
  { formerModelIds }: Calibrations,
): Promise<CropFace | undefined> {
  const templateModelIds = new Set(templates.map(({ modelId }) => modelId))
  const previousTemplates = formerModelIds.filter((modelId) => templateModelIds.has(modelId))
  const image = { bytes: jpeg.toString('base64'), contentType: 'image/jpeg' } as const
  const request = { ...anyFaceOptions, templates: true, previousTemplates }
  try {
    const analysis = await vision.analyzeImage(image, request, {
      accountId: reEmbedProjectId,
      projectId: reEmbedProjectId,
      path: 'stored crop',
    })
    return analysis.faces.toSorted(
      (a, b) => squaredCenterDistance(a, analysis) - squaredCenterDistance(b, analysis),
    )[0]
  } catch (error) {
    if (error instanceof ActionError) return undefined
    throw error
  }
}

/** Returns the squared distance between the centers of the face and the image, px². */
function squaredCenterDistance({ boundingBox }: CropFace, { width, height }: CropAnalysis): number {
  const { left, top, width: faceWidth, height: faceHeight } = boundingBox
  return (left + faceWidth / 2 - width / 2) ** 2 + (top + faceHeight / 2 - height / 2) ** 2
}

/** High, because the crop is almost the same image that the templates were extracted from. */
const sameFaceSimilarityMin = 0.8

/** Compares the face with its stored templates by model. Without a common model, it is accepted. */
function isSameFace(
  { previousTemplates = [] }: CropFace,
  templates: readonly Template[],
  calibrations: Calibrations,
): boolean {
  const similarities = previousTemplates.flatMap((template) => {
    const stored = templates.find(({ modelId }) => modelId === template.modelId)
    return stored ? [matchTemplates(template, stored, calibrations).similarity] : []
  })
  return similarities.every((similarity) => similarity >= sameFaceSimilarityMin)
}

/** Skips the face if it or its crop was deleted, or if it has a template of this model by now. */
async function writeTemplate(
  tx: Tx,
  faceId: string,
  template: Template,
  { keys, search }: ReEmbedFaceOptions,
): Promise<ReEmbedOutcome> {
  const [unlocked] = await findFaceTemplates(tx, [faceId])
  if (unlocked) await lockGallery(tx, unlocked.galleryId, 'exclusive')
  const rows = await findFaceTemplates(tx, [faceId])
  const [first] = rows
  const { modelId } = template
  if (!first || !(await findCrop(tx, faceId)) || rows.some((row) => row.modelId === modelId))
    return 'skipped'
  const ciphertext = encryptTemplate(
    await keys.unwrap(tx, first),
    await templateBindingOf(tx, first, modelId),
    template,
  )
  const { galleryId, subjectId } = first
  const sequence = await recordGalleryChange(tx, { galleryId })
  await markSubjectChanged(tx, { subjectId, sequence })
  await addTemplate(tx, { galleryId, faceId, modelId, ciphertext })
  await search.storeVectors(tx, first)
  return 'reEmbedded'
}

async function templateBindingOf(
  tx: Tx,
  { galleryId, subjectId, faceId }: StoredTemplate,
  modelId: string,
) {
  const accountId = (await findGallery(tx, galleryId))?.accountId ?? ''
  return { accountId, galleryId, subjectId, faceId, modelId }
}
