import { z } from 'zod'
import { ActionError, GalleryChangedError } from '../lib/errors.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import type { ReadTx, Tx } from '../store/database.ts'
import { defineAction, type ActionCall } from './action.ts'
import { faceErrors, imageErrors, subjectNotFound } from './parts/action-errors.ts'
import { debugInfo, recognizerScore, toFaceValue, toImageFacts } from './parts/response-fields.ts'
import {
  type StoredPicture,
  addPictures,
  pictureResultSchema,
  pictureResults,
  requireStored,
  resultWarnings,
  samePersonSimilarityMin,
  selectPictures,
  unbilledCount,
} from './parts/pictures/add-pictures.ts'
import {
  type ExtractedPicture,
  extractPictures,
  isFlagSet,
  refusalError,
} from './parts/pictures/extract-pictures.ts'
import { requireNoDuplicates, searchDuplicates } from './parts/pictures/find-duplicates.ts'
import { searchVisitorsOfPictures, similarVisitors } from './parts/search/visitors-of-subject.ts'
import {
  changePermissions,
  requireChangePermissions,
  requireForcePermission,
} from './parts/subject-permissions.ts'
import { addedFaceSimilarityMin, storeExtractOptions } from './parts/store-face.ts'
import examples from './schemas/examples.json' with { type: 'json' }
import * as fields from './schemas/fields.ts'
import { images } from './schemas/images.ts'
import texts from './schemas/field-texts.json' with { type: 'json' }

const enrollParams = z
  .strictObject({
    images: images.describe(texts.enroll.paramsImages),
    allImages: z.boolean().default(false).describe(texts.enroll.allImages),
    externalId: fields.externalId.optional(),
    subjectId: fields.subjectId.optional().describe(texts.enroll.subjectId),
    displayName: fields.displayName.optional(),
    groups: fields.groups.default([]).describe(texts.enroll.groups),
    attributes: fields.attributes.optional(),
    onExisting: z.enum(['append', 'reject']).default('append').describe(texts.enroll.onExisting),
    duplicateCheck: z
      .enum(['off', 'report', 'reject'])
      .default('report')
      .describe(texts.enroll.duplicateCheck),
    duplicateThreshold: fields.similarity.default(0.9),
    expiresAtUtc: fields.expiresAtUtc.optional(),
    force: z.boolean().default(false).describe(texts.enroll.force),
    ...fields.enrollmentFaceParams,
    ...fields.requiredLivenessParams,
  })
  // A liveness session replaces the images.
  .meta({ id: 'EnrollParams', required: [] })

type ParsedEnrollParams = z.output<typeof enrollParams>
type EnrollCall = ActionCall<ParsedEnrollParams>

/** Stores a face as a new subject, or as another template of an existing subject. */
export const enroll = defineAction({
  name: 'svc.enroll',
  summary: 'Enroll the face of an image as a new subject, or add it to an existing subject.',
  price: (imageCount, params) =>
    2 * (isFlagSet(params, 'allImages') ? imageCount : Math.min(imageCount, 1)),
  params: enrollParams,
  sessionImage: 'only',
  furtherPermissions: [changePermissions.fields, changePermissions.expiry, changePermissions.force],
  analyzesAllImages: (params) => isFlagSet(params, 'allImages'),
  value: z
    .object({
      subjectId: z.uuid(),
      faceId: z.uuid().describe(texts.enroll.faceId),
      externalId: z.string().nullable(),
      created: z.boolean().describe(texts.enroll.created),
      embeddingCount: z.int().min(1),
      groups: z.array(z.string()),
      face: fields.face,
      duplicates: z.array(
        z.object({
          subjectId: z.uuid(),
          externalId: z.string().nullable(),
          similarity: fields.similarity,
        }),
      ),
      visitors: similarVisitors,
      enrolledAtUtc: z.string(),
      images: z.array(pictureResultSchema).optional().describe(texts.enroll.valueImages),
      image: fields.imageFacts,
      warnings: fields.warnings,
      debug: fields.debug,
    })
    .meta({ id: 'EnrollValue' }),
  errors: [
    'SUBJECT_NOT_FOUND',
    'EXTERNAL_ID_CONFLICT',
    ...imageErrors,
    ...faceErrors,
    'DUPLICATE_SUBJECT',
    'SUBJECT_FACE_MISMATCH',
    'FACE_ALREADY_ENROLLED',
    'MODEL_MISMATCH',
    'TEMPLATE_LIMIT_REACHED',
    'GALLERY_FULL',
  ],
  example: examples['svc.enroll'],
  scrub: (value) => ({
    ...value,
    externalId: null,
    groups: [],
    duplicates: [],
    visitors: undefined,
  }),
  checkCall: (call) => {
    requireForcePermission(call)
    call.services.subjects.requireFutureExpiry(call.params.expiresAtUtc)
  },
  run: enrollFace,
})

async function enrollFace(call: EnrollCall) {
  const { params, caller, services } = call
  const { subjects } = services
  const early = await subjects.read((reading) => findTargetEarly(call, reading))
  if (early === 'refused') return { effect: (tx: Tx) => refuseTarget(call, tx) }
  const { target } = early
  const { pictures, refused } = await extractAll(call)
  const findDuplicates = await createDuplicateSearch(call, pictures, target)
  const findVisitors = await searchVisitorsOfPictures(call, pictures)
  return {
    effect: async (tx: Tx) => {
      await subjects.lock(tx, caller.galleryId, 'exclusive')
      const existing = await findTarget(call, tx)
      const selected = await selectAccepted(call, tx, existing, pictures)
      const notSelected = [...refused, ...selected.refused]
      if (selected.accepted.length === 0) throw refusalError(notSelected)
      // Only now: the error would reveal the fields to a caller without a picture of the person.
      if (existing)
        await requireChangePermissions(call, tx, existing, toSubjectUpdate(params, existing))
      const duplicates = await findDuplicates(tx, selected.accepted)
      if (params.duplicateCheck === 'reject') requireNoDuplicates(duplicates)
      const subject = existing ?? (await subjects.create(tx, caller, params))
      const added = await addPictures(call, tx, subject, selected.accepted)
      const results = { ...added, refused: [...notSelected, ...added.refused] }
      const main = requireStored(params, results, subject.subjectId)
      const changes = toSubjectUpdate(params, existing, added.stored)
      const updated = await subjects.update(tx, subject, changes)
      const found = await findVisitors(tx, selected.accepted)
      const [details] = await subjects.loadDetails(tx, [updated])
      if (!details) throw new Error('the enrolled subject was not found')
      const value = {
        ...details,
        faceId: main.faceId,
        created: !existing,
        face: toFaceValue(main.analysis, main.probe, 0),
        duplicates: [...duplicates],
        ...(found && { visitors: found }),
        enrolledAtUtc: details.updatedAtUtc,
        ...(params.allImages && { images: pictureResults(results) }),
        image: toImageFacts(main.analysis),
        ...resultWarnings(params, results, details.embeddingCount),
        ...debugInfo(call.debug, main.analysis, main.probe, recognizerScore(main)),
      }
      const subjectIds = [details, ...duplicates].map((other) => other.subjectId)
      subjectIds.push(...(found ?? []).map(({ visitorId }) => visitorId))
      const { correlationId } = params.images[0]
      return [{ correlationId, subjectIds, unbilledImages: unbilledCount(params, results), value }]
    },
  }
}

async function createDuplicateSearch(
  call: EnrollCall,
  pictures: readonly ExtractedPicture[],
  target: SubjectRow | undefined,
) {
  const { duplicateCheck, duplicateThreshold: similarityMin } = call.params
  if (duplicateCheck === 'off') return async () => []
  return searchDuplicates(call, { pictures, similarityMin, excludeSubjectId: target?.subjectId })
}

/** Finds the target before the images are analyzed. */
async function findTargetEarly(call: EnrollCall, reading: ReadTx) {
  try {
    return { target: await findTarget(call, reading) }
  } catch (error) {
    if (error instanceof ActionError) return 'refused'
    throw error
  }
}

/**
 * Refuses the call under the lock: the stored response contains the id of a subject, which its deletion
 * removes only if the response is stored before it.
 *
 * @throws ActionError as `findTarget`; GalleryChangedError if the subject was deleted or changed meanwhile.
 */
async function refuseTarget(call: EnrollCall, tx: Tx): Promise<never> {
  await call.services.subjects.lock(tx, call.caller.galleryId, 'exclusive')
  await findTarget(call, tx)
  throw new GalleryChangedError()
}

/** Extracts the pictures to enroll. @throws ActionError if none can be used. */
async function extractAll(call: EnrollCall) {
  const { params } = call
  const images = params.allImages ? params.images : [params.images[0]]
  const extract = await storeExtractOptions(call)
  const outcomes = await extractPictures({ ...call, extract }, images)
  const pictures = outcomes.flatMap((outcome) => ('error' in outcome ? [] : [outcome]))
  const refused = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome] : []))
  if (pictures.length === 0) throw refusalError(refused)
  return { pictures, refused }
}

async function selectAccepted(
  call: EnrollCall,
  tx: Tx,
  existing: SubjectRow | undefined,
  pictures: readonly ExtractedPicture[],
) {
  const { force, allImages } = call.params
  if (force) return { accepted: pictures, refused: [] }
  const similarityMin = allImages ? samePersonSimilarityMin : addedFaceSimilarityMin
  return selectPictures(call, tx, { existing, pictures, similarityMin })
}

/**
 * Returns the existing subject to add the face to; undefined if the subject is new.
 *
 * @throws ActionError SUBJECT_NOT_FOUND, EXTERNAL_ID_CONFLICT.
 */
async function findTarget(
  { params: { subjectId, externalId, onExisting }, caller: { galleryId }, services }: EnrollCall,
  reading: ReadTx,
): Promise<SubjectRow | undefined> {
  const { find } = services.subjects
  const conflict = (message: string, hint: string, { subjectId: id }: SubjectRow): never => {
    const details = { path: 'params.externalId', subjectId: id, hint }
    throw new ActionError('EXTERNAL_ID_CONFLICT', message, details)
  }
  const holder =
    externalId === undefined ? undefined : await find(reading, galleryId, { externalId })
  if (subjectId === undefined) {
    if (holder && onExisting === 'reject')
      conflict(
        'a subject already has this externalId',
        'Use another externalId, or send onExisting "append" to add the face to that subject.',
        holder,
      )
    return holder
  }
  const target = (await find(reading, galleryId, { subjectId })) ?? subjectNotFound({ subjectId })
  if (holder && holder.subjectId !== target.subjectId)
    conflict(
      'another subject has this externalId',
      'Send only the id of the subject that the face belongs to.',
      holder,
    )
  if (externalId !== undefined && (target.externalId ?? externalId) !== externalId)
    conflict(
      'the subject has another externalId',
      'Send only the subjectId; svc.updateSubject changes the externalId.',
      target,
    )
  return target
}

/** An existing subject takes the fields of the request; fields that are absent stay unchanged. */
function toSubjectUpdate(
  { groups, externalId, displayName, attributes, expiresAtUtc }: ParsedEnrollParams,
  existing: SubjectRow | undefined,
  stored: readonly StoredPicture[] = [],
) {
  const fields = existing && { externalId, displayName, attributes, expiresAtUtc }
  return { ...fields, addGroups: groups, isChanged: stored.some(({ isAdded }) => isAdded) }
}
