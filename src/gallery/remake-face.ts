import { mapInTurn } from '../lib/in-turn.ts'
import { ActionError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { cropOf, remakingOf } from '../store/crops.ts'
import type { Store } from '../store/database.ts'
import { renumberFace } from '../store/faces.ts'
import { countChange, findGallery, holdGallery } from '../store/galleries.ts'
import { addTemplate, templatesOfFaces, type StoredTemplate } from '../store/templates.ts'
import type { Reading, Tx } from '../store/tx.ts'
import type { Look, Picture, SeenFace, Template, View } from '../vision/view.ts'
import type { Calibrations } from './calibrations.ts'
import { likenessOf } from './compare.ts'
import { openCrop } from './crop-seal.ts'
import type { OpenStored } from './opener.ts'
import type { GallerySearch } from './search/gallery-search.ts'
import type { SubjectKeys } from './subject-keys.ts'
import { sealTemplate } from './template-seal.ts'

/** Who looks at a crop. */
export type CropEyes = {
  /**
   * @throws ActionError when the picture cannot be used.
   * @throws HttpError 503 when no worker is free in time or the worker died.
   */
  readonly look: (
    picture: Picture,
    look: Look,
    call: { readonly projectId: string; readonly path: string },
  ) => Promise<CropView>
}

/** What counts of what is seen in a crop. */
type CropView = Pick<View, 'width' | 'height'> & { readonly faces: readonly CropFace[] }
type CropFace = Pick<SeenFace, 'boundingBox' | 'template' | 'formerTemplates'>

export type RemakeFaceOptions = {
  readonly store: Store
  readonly keys: SubjectKeys
  readonly openStored: OpenStored
  readonly search: GallerySearch
  readonly calibrations: Calibrations
  readonly log: Pick<Log, 'warn' | 'error'>
}

/**
 * `made`: the face has a template of the active model now. `failed`: its crop shows nobody, or
 * somebody else than its templates. `gone`: there is nothing to do any more.
 */
export type RemakeOutcome = 'made' | 'failed' | 'gone'

/** Crops take turns with calls as if they were calls of a project of this id. */
const projectId = 'remake'

/**
 * Makes a template of the active model of a face's stored crop. Nothing is written to a face that
 * was deleted, or whose crop was, since it was looked at.
 *
 * @throws HttpError 503 when no worker was free in time or the worker died.
 */
export async function remakeFace(
  options: RemakeFaceOptions,
  faceId: string,
  eyes: CropEyes,
): Promise<RemakeOutcome> {
  const { store, calibrations, log } = options
  const stored = await store.read((reading) => openForRemake(reading, faceId, options))
  if (stored === 'gone' || stored === 'failed') return stored
  const seen = await lookAgain(stored, eyes, calibrations)
  if (!seen?.template || !isSame(seen, stored.templates, calibrations)) {
    log.warn({ faceId }, 'a stored crop does not show the face that it is of')
    return 'failed'
  }
  const { template } = seen
  return store.write((tx) => writeTemplate(tx, faceId, template, options))
}

type Opened = { readonly jpeg: Buffer; readonly templates: readonly Template[] }

/** The crop and the templates of loaded models that it is to be held against. */
async function openForRemake(
  reading: Reading,
  faceId: string,
  { keys, openStored, calibrations, log }: RemakeFaceOptions,
): Promise<Opened | 'gone' | 'failed'> {
  const found = await remakingOf(reading, faceId)
  const [first] = found?.templates ?? []
  if (!found || !first) return 'gone'
  const { galleryId, subjectId } = first
  const tenantId = (await findGallery(reading, galleryId))?.accountId ?? ''
  const comparable = found.templates.filter(({ modelId }) => calibrations.of(modelId) !== undefined)
  const opened = await mapInTurn(comparable, (row) => openStored(reading, row))
  const templates = opened.filter((template) => template !== undefined)
  try {
    const place = { tenantId, galleryId, subjectId, faceId }
    return { jpeg: openCrop(await keys.open(reading, first), place, found.crop.sealed), templates }
  } catch (error) {
    const where = { alert: 'crop-tampered', galleryId, subjectId, faceId }
    log.error({ ...where, err: error }, 'a stored crop does not open; nothing is made of it')
    return 'failed'
  }
}

/** A crop was found to show its face once: what is asked is only which face it is. */
const anyFace = { minFaceConfidence: 0.3, minFaceSizePx: 1, maxFaces: 10, crops: false }

/** The face in the middle of the crop, by the active model and the models that know it. */
async function lookAgain(
  { jpeg, templates }: Opened,
  eyes: CropEyes,
  { formerModelIds }: Calibrations,
): Promise<CropFace | undefined> {
  const known = new Set(templates.map(({ modelId }) => modelId))
  const formerTemplates = formerModelIds.filter((modelId) => known.has(modelId))
  const picture = { bytes: jpeg.toString('base64'), contentType: 'image/jpeg' } as const
  const look = { ...anyFace, templates: true, formerTemplates }
  try {
    const view = await eyes.look(picture, look, { projectId, path: 'stored crop' })
    return view.faces.toSorted((a, b) => offMiddle(a, view) - offMiddle(b, view))[0]
  } catch (error) {
    if (error instanceof ActionError) return undefined
    throw error
  }
}

/** Squared distance of the face's middle from the picture's, px². */
function offMiddle({ boundingBox }: CropFace, { width, height }: CropView): number {
  const { left, top, width: faceWidth, height: faceHeight } = boundingBox
  return (left + faceWidth / 2 - width / 2) ** 2 + (top + faceHeight / 2 - height / 2) ** 2
}

/** A crop of a face is nearly the picture that its templates were made of. */
const sameFaceMin = 0.8

/** Held against the templates that there are, like with like; where none compares, the crop counts. */
function isSame(
  { formerTemplates = [] }: CropFace,
  templates: readonly Template[],
  calibrations: Calibrations,
): boolean {
  const likenesses = formerTemplates.flatMap((fresh) => {
    const stored = templates.find(({ modelId }) => modelId === fresh.modelId)
    return stored ? [likenessOf(fresh, stored, calibrations).similarity] : []
  })
  return likenesses.every((similarity) => similarity >= sameFaceMin)
}

/** Nothing is written to a face that is gone, or whose crop is, or that has such a template now. */
async function writeTemplate(
  tx: Tx,
  faceId: string,
  template: Template,
  { keys, search }: RemakeFaceOptions,
): Promise<RemakeOutcome> {
  const [known] = await templatesOfFaces(tx, [faceId])
  if (known) await holdGallery(tx, known.galleryId, 'alone')
  const rows = await templatesOfFaces(tx, [faceId])
  const [first] = rows
  const { modelId } = template
  if (!first || !(await cropOf(tx, faceId)) || rows.some((row) => row.modelId === modelId))
    return 'gone'
  const sealed = sealTemplate(
    await keys.open(tx, first),
    await placeOf(tx, first, modelId),
    template,
  )
  const { galleryId } = first
  await renumberFace(tx, faceId, await countChange(tx, { galleryId }))
  await addTemplate(tx, { galleryId, faceId, modelId, sealed })
  await search.remember(tx, first, template)
  return 'made'
}

async function placeOf(tx: Tx, { galleryId, subjectId, faceId }: StoredTemplate, modelId: string) {
  const tenantId = (await findGallery(tx, galleryId))?.accountId ?? ''
  return { tenantId, galleryId, subjectId, faceId, modelId }
}
