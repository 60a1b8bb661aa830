import { z } from 'zod'
import type { Gallery, SearchHit } from '../gallery/gallery.ts'
import { ActionError } from '../lib/errors.ts'
import { mapSequential } from '../lib/map-sequential.ts'
import type { SubjectRow } from '../store/schema.ts'
import type { ReadTx, Tx } from '../store/tx.ts'
import { defineAction, type Caller } from './action.ts'
import { faceErrors, imageErrors } from './parts/action-errors.ts'
import { debugInfo } from './parts/candidates.ts'
import { toFaceValue, toImageFacts } from './parts/face-value.ts'
import {
  attributes,
  debug,
  displayName,
  expiresAtUtc,
  externalId,
  face,
  facePolicy,
  groups,
  imageFacts,
  images,
  livenessThreshold,
  minFaceConfidence,
  minFaceSize,
  minQuality,
  requireLiveness,
  similarity,
  subjectId,
} from './schemas/fields.ts'
import { subjectNotFound } from './parts/subject-not-found.ts'
import { storeExtractOptions } from './parts/store-face.ts'
import { addMatchingFace } from './parts/add-matching-face.ts'
import { enrollExample } from './schemas/examples.ts'
import { enrollmentMinima } from './parts/assess-enrollment.ts'
import { extractProbes } from './parts/extract-probes.ts'

const enrollParams = z
  .strictObject({
    images,
    externalId: externalId.optional(),
    subjectId: subjectId.optional().meta({ description: 'Adds a template to this subject.' }),
    displayName: displayName.optional(),
    groups: groups.default([]).meta({ description: 'Groups to belong to; made on first use.' }),
    attributes: attributes.optional(),
    onExisting: z.enum(['append', 'reject']).default('append').meta({
      description: 'What to do when the externalId is known: add a template, or refuse.',
    }),
    duplicateCheck: z.enum(['off', 'report', 'reject']).default('report').meta({
      description: 'What to do when another subject looks the same.',
    }),
    duplicateThreshold: similarity.default(0.9),
    expiresAtUtc: expiresAtUtc.optional(),
    force: z.boolean().default(false).meta({
      description: 'Adds the template even if it does not look like the subject.',
    }),
    minFaceConfidence,
    minFaceSize,
    facePolicy: facePolicy('single'),
    minQuality: minQuality(enrollmentMinima.minQuality),
    requireLiveness,
    livenessThreshold,
  })
  .meta({ id: 'EnrollParams' })

type ParsedEnrollParams = z.output<typeof enrollParams>

/** Remembers a face: as a new subject, or as one more template of one. */
export const enroll = defineAction({
  name: 'svc.enroll',
  summary: 'Remember the face of an image as a subject of the gallery, or add it to one.',
  price: () => 2,
  params: enrollParams,
  value: z
    .object({
      subjectId: z.uuid(),
      faceId: z.uuid(),
      externalId: z.string().nullable(),
      created: z.boolean().meta({ description: 'Whether the subject is new.' }),
      embeddingCount: z.int().min(1),
      groups: z.array(z.string()),
      face,
      duplicates: z.array(
        z.object({ subjectId: z.uuid(), externalId: z.string().nullable(), similarity }),
      ),
      enrolledAtUtc: z.string(),
      image: imageFacts,
      debug,
    })
    .meta({ id: 'EnrollValue' }),
  errors: [
    'SUBJECT_NOT_FOUND',
    'EXTERNAL_ID_CONFLICT',
    ...imageErrors,
    ...faceErrors,
    'DUPLICATE_SUBJECT',
    'SUBJECT_FACE_MISMATCH',
    'TEMPLATE_LIMIT_REACHED',
    'GALLERY_FULL',
  ],
  example: enrollExample,
  scrub: (value) => ({
    ...value,
    externalId: null,
    groups: [],
    duplicates: [],
  }),
  run: async (call) => {
    const { params, caller, services } = call
    const { gallery } = services
    const target = await gallery.read((reading) => findTarget(gallery, reading, caller, params))
    const wanted = await storeExtractOptions(call)
    const { analysis: view, faces } = await extractProbes({ ...call, wanted }, params.images[0], 0)
    const [seen] = faces
    const search = await searchDuplicates(gallery, caller, params, { probes: seen.probes, target })
    return {
      effect: async (tx) => {
        await gallery.lock(tx, caller.galleryId, 'exclusive')
        const duplicates = await existingDuplicates(
          gallery,
          tx,
          caller,
          await search.duplicates(tx),
        )
        if (duplicates.length > 0 && params.duplicateCheck === 'reject')
          throw duplicateError(duplicates)
        const found = await findTarget(gallery, tx, caller, params)
        const subject = found ?? (await gallery.create(tx, caller, params))
        const faceId = await addMatchingFace(call, tx, subject, {
          seen,
          force: params.force || !found,
        })
        const joined = await gallery.update(tx, subject, toSubjectUpdate(params, found))
        const [told] = await gallery.loadSubjectDetails(tx, [joined])
        if (!told) throw new Error('the subject is gone')
        const value = {
          ...told,
          faceId,
          created: !found,
          face: toFaceValue(view, seen, 0),
          duplicates,
          enrolledAtUtc: told.updatedAtUtc,
          image: toImageFacts(view),
          ...debugInfo(call.debug, view, seen),
        }
        const subjectIds = [told.subjectId, ...duplicates.map((twin) => twin.subjectId)]
        return [{ correlationId: params.images[0].correlationId, subjectIds, value }]
      },
    }
  },
})

/**
 * The subject to add to, if it is there already.
 *
 * @throws ActionError SUBJECT_NOT_FOUND, EXTERNAL_ID_CONFLICT.
 */
async function findTarget(
  gallery: Gallery,
  reading: ReadTx,
  { galleryId }: Caller,
  { subjectId, externalId, onExisting }: ParsedEnrollParams,
): Promise<SubjectRow | undefined> {
  const conflict = (message: string): never => {
    throw new ActionError('EXTERNAL_ID_CONFLICT', message)
  }
  const holder =
    externalId === undefined ? undefined : await gallery.find(reading, galleryId, { externalId })
  if (subjectId === undefined) {
    if (holder && onExisting === 'reject') conflict('a subject has this externalId already')
    return holder
  }
  const target = (await gallery.find(reading, galleryId, { subjectId })) ?? subjectNotFound()
  if (holder && holder.subjectId !== target.subjectId)
    conflict('another subject has this externalId')
  if (externalId !== undefined && (target.externalId ?? externalId) !== externalId)
    conflict('the subject has another externalId; svc.updateSubject changes it')
  return target
}

type DuplicateQuery = {
  readonly probes: Parameters<Gallery['search']>[1]
  readonly target: SubjectRow | undefined
}

/** The most duplicates that are told. */
const duplicatesMax = 10

type DuplicateSearch = { readonly duplicates: (tx: Tx) => Promise<readonly SearchHit[]> }

/**
 * Looks for other subjects that look the same. Whoever is enrolled between the search and the end of
 * the call is compared there: of two enrolments of one face at once, one meets the other.
 */
async function searchDuplicates(
  gallery: Gallery,
  { galleryId }: Caller,
  { duplicateCheck, duplicateThreshold }: ParsedEnrollParams,
  { probes, target }: DuplicateQuery,
): Promise<DuplicateSearch> {
  if (duplicateCheck === 'off') return { duplicates: async () => [] }
  const excludeSubjectId = target?.subjectId
  const sequence = await gallery.read((reading) => gallery.sequence(reading, galleryId))
  const options = { limit: duplicatesMax, excludeSubjectId }
  const hits = await gallery.search(galleryId, probes, options)
  return {
    duplicates: async (tx) => {
      const since = await gallery.matchChangedSince(tx, { galleryId, sequence, probes })
      const newcomers = since.filter(({ subjectId }) => subjectId !== excludeSubjectId)
      const known = new Set(newcomers.map(({ subjectId }) => subjectId))
      return [...newcomers, ...hits.filter(({ subjectId }) => !known.has(subjectId))]
        .filter((hit) => hit.similarity >= duplicateThreshold)
        .toSorted((a, b) => b.similarity - a.similarity)
        .slice(0, duplicatesMax)
    },
  }
}

async function existingDuplicates(
  gallery: Gallery,
  tx: Tx,
  { galleryId }: Caller,
  twins: readonly SearchHit[],
) {
  const known = await mapSequential(twins, async ({ subjectId, similarity }) => {
    const subject = await gallery.find(tx, galleryId, { subjectId })
    return subject ? [{ subjectId, externalId: subject.externalId, similarity }] : []
  })
  return known.flat()
}

function duplicateError(duplicates: readonly { readonly subjectId: string }[]): ActionError {
  const ids = duplicates.map(({ subjectId }) => subjectId).join(', ')
  return new ActionError('DUPLICATE_SUBJECT', `the face is enrolled already, as ${ids}`)
}

/** A known subject takes on what the request says of it; what it leaves out stays. */
function toSubjectUpdate(params: ParsedEnrollParams, found: SubjectRow | undefined) {
  const { groups, externalId, displayName, attributes, expiresAtUtc } = params
  return found
    ? { addGroups: groups, externalId, displayName, attributes, expiresAtUtc }
    : { addGroups: groups }
}
