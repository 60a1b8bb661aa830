import { mapSequential } from '../../lib/map-sequential.ts'
import { ActionError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { findCrop, findReEmbedSource } from '../../store/gallery/crops.ts'
import type { Store } from '../../store/database.ts'
import { markFaceChanged } from '../../store/gallery/faces.ts'
import { recordGalleryChange, findGallery, lockGallery } from '../../store/gallery/galleries.ts'
import {
  addTemplate,
  findFaceTemplates,
  type StoredTemplate,
} from '../../store/gallery/templates.ts'
import type { ReadTx, Tx } from '../../store/tx.ts'
import type {
  AnalysisRequest,
  EncodedImage,
  FaceResult,
  Template,
  ImageAnalysis,
} from '../../vision/image-analysis.ts'
import type { Calibrations } from '../calibration/calibrations.ts'
import { matchTemplates } from '../match.ts'
import { decryptCrop } from '../keys/crop-encryption.ts'
import type { DecryptStoredTemplate } from '../keys/decrypt-stored-template.ts'
import type { GallerySearch } from '../search/gallery-search.ts'
import type { SubjectKeys } from '../keys/subject-keys.ts'
import { encryptTemplate } from '../keys/template-encryption.ts'

/** Who looks at a crop. */
export type CropVisionClient = {
  /**
   * @throws ActionError when the picture cannot be used.
   * @throws HttpError 503 when no worker is free in time or the worker died.
   */
  readonly analyzeImage: (
    picture: EncodedImage,
    look: AnalysisRequest,
    call: { readonly projectId: string; readonly path: string },
  ) => Promise<CropAnalysis>
}

/** What counts of what is seen in a crop. */
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
 * `made`: the face has a template of the active model now. `failed`: its crop shows nobody, or
 * somebody else than its templates. `gone`: there is nothing to do any more.
 */
export type ReEmbedOutcome = 'made' | 'failed' | 'gone'

/** Crops take turns with calls as if they were calls of a project of this id. */
const reEmbedProjectId = 'remake'

/**
 * Makes a template of the active model of a face's stored crop. Nothing is written to a face that
 * was deleted, or whose crop was, since it was looked at.
 *
 * @throws HttpError 503 when no worker was free in time or the worker died.
 */
export async function reEmbedFace(
  options: ReEmbedFaceOptions,
  faceId: string,
  eyes: CropVisionClient,
): Promise<ReEmbedOutcome> {
  const { store, calibrations, log } = options
  const stored = await store.read((reading) => decryptForReEmbed(reading, faceId, options))
  if (stored === 'gone' || stored === 'failed') return stored
  const seen = await findCenterFace(stored, eyes, calibrations)
  if (!seen?.template || !isSameFace(seen, stored.templates, calibrations)) {
    log.warn({ faceId }, 'a stored crop does not show the face that it is of')
    return 'failed'
  }
  const { template } = seen
  return store.write((tx) => writeTemplate(tx, faceId, template, options))
}

type DecryptedCrop = { readonly jpeg: Buffer; readonly templates: readonly Template[] }

/** The crop and the templates of loaded models that it is to be held against. */
async function decryptForReEmbed(
  reading: ReadTx,
  faceId: string,
  { keys, decryptStored: openStored, calibrations, log }: ReEmbedFaceOptions,
): Promise<DecryptedCrop | 'gone' | 'failed'> {
  const found = await findReEmbedSource(reading, faceId)
  const [first] = found?.templates ?? []
  if (!found || !first) return 'gone'
  const { galleryId, subjectId } = first
  const tenantId = (await findGallery(reading, galleryId))?.accountId ?? ''
  const comparable = found.templates.filter(({ modelId }) => calibrations.of(modelId) !== undefined)
  const opened = await mapSequential(comparable, (row) => openStored(reading, row))
  const templates = opened.filter((template) => template !== undefined)
  try {
    const place = { tenantId, galleryId, subjectId, faceId }
    return {
      jpeg: decryptCrop(await keys.unwrap(reading, first), place, found.crop.sealed),
      templates,
    }
  } catch (error) {
    const where = { alert: 'crop-tampered', galleryId, subjectId, faceId }
    log.error({ ...where, err: error }, 'a stored crop does not open; nothing is made of it')
    return 'failed'
  }
}

/** A crop was found to show its face once: what is asked is only which face it is. */
const anyFaceOptions = { minFaceConfidence: 0.3, minFaceSizePx: 1, maxFaces: 10, crops: false }

/** The face in the middle of the crop, by the active model and the models that know it. */
async function findCenterFace(
  { jpeg, templates }: DecryptedCrop,
  eyes: CropVisionClient,
  { formerModelIds }: Calibrations,
): Promise<CropFace | undefined> {
  const known = new Set(templates.map(({ modelId }) => modelId))
  const previousTemplates = formerModelIds.filter((modelId) => known.has(modelId))
  const picture = { bytes: jpeg.toString('base64'), contentType: 'image/jpeg' } as const
  const look = { ...anyFaceOptions, templates: true, previousTemplates }
  try {
    const view = await eyes.analyzeImage(picture, look, {
      projectId: reEmbedProjectId,
      path: 'stored crop',
    })
    return view.faces.toSorted(
      (a, b) => squaredCenterDistance(a, view) - squaredCenterDistance(b, view),
    )[0]
  } catch (error) {
    if (error instanceof ActionError) return undefined
    throw error
  }
}

/** Squared distance of the face's middle from the picture's, px². */
function squaredCenterDistance({ boundingBox }: CropFace, { width, height }: CropAnalysis): number {
  const { left, top, width: faceWidth, height: faceHeight } = boundingBox
  return (left + faceWidth / 2 - width / 2) ** 2 + (top + faceHeight / 2 - height / 2) ** 2
}

/** A crop of a face is nearly the picture that its templates were made of. */
const sameFaceSimilarityMin = 0.8

/** Held against the templates that there are, like with like; where none compares, the crop counts. */
function isSameFace(
  { previousTemplates = [] }: CropFace,
  templates: readonly Template[],
  calibrations: Calibrations,
): boolean {
  const likenesses = previousTemplates.flatMap((fresh) => {
    const stored = templates.find(({ modelId }) => modelId === fresh.modelId)
    return stored ? [matchTemplates(fresh, stored, calibrations).similarity] : []
  })
  return likenesses.every((similarity) => similarity >= sameFaceSimilarityMin)
}

/** Nothing is written to a face that is gone, or whose crop is, or that has such a template now. */
async function writeTemplate(
  tx: Tx,
  faceId: string,
  template: Template,
  { keys, search }: ReEmbedFaceOptions,
): Promise<ReEmbedOutcome> {
  const [known] = await findFaceTemplates(tx, [faceId])
  if (known) await lockGallery(tx, known.galleryId, 'exclusive')
  const rows = await findFaceTemplates(tx, [faceId])
  const [first] = rows
  const { modelId } = template
  if (!first || !(await findCrop(tx, faceId)) || rows.some((row) => row.modelId === modelId))
    return 'gone'
  const sealed = encryptTemplate(
    await keys.unwrap(tx, first),
    await templateBindingOf(tx, first, modelId),
    template,
  )
  const { galleryId } = first
  await markFaceChanged(tx, faceId, await recordGalleryChange(tx, { galleryId }))
  await addTemplate(tx, { galleryId, faceId, modelId, sealed })
  await search.storeVector(tx, first, template)
  return 'made'
}

async function templateBindingOf(
  tx: Tx,
  { galleryId, subjectId, faceId }: StoredTemplate,
  modelId: string,
) {
  const tenantId = (await findGallery(tx, galleryId))?.accountId ?? ''
  return { tenantId, galleryId, subjectId, faceId, modelId }
}
