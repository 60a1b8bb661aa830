import { mapSequential } from '../lib/account-context.ts'
import { formatUtc } from '../lib/clock.ts'
import { ActionError, invalidRequest } from '../lib/errors.ts'
import type { ReadTx, Tx } from '../store/database.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import { hasExpired } from '../store/gallery/expired-subjects.ts'
import { faceCounts, findSubjectFaces } from '../store/gallery/faces.ts'
import { lockGallery } from '../store/gallery/galleries.ts'
import { addGroups } from '../store/gallery/groups.ts'
import { findSubject, findSubjectsByIds, updateSubjectRow } from '../store/gallery/subjects.ts'
import { findSubjectTemplates } from '../store/gallery/templates.ts'
import {
  addVisit,
  countVisitors,
  findVisitors,
  visitorsGalleryId,
} from '../store/gallery/visitors.ts'
import { deleteSubject } from './deletion/subject-deletion.ts'
import * as enrollment from './enrollment.ts'
import type { DecryptStoredTemplate } from './keys/template-encryption.ts'
import { externalIdOf } from './subject-update.ts'
import {
  type SubjectDetails,
  type SubjectsOptions,
  createReadCrop,
  loadSubjectDetails,
} from './subjects.ts'

/**
 * The unknown people of galleries: subjects of a second gallery, which svc.identify creates and
 * recognizes. The functions that change a visitor lock both galleries first. After their commit, the
 * gallery of the visitors must be purged.
 */
export type Visitors = ReturnType<typeof createVisitors>

/** A visitor of the gallery of the subjects with this id. */
export type VisitorLookup = { readonly galleryId: string; readonly visitorId: string }

type VisitorsOptions = Pick<SubjectsOptions, 'keys' | 'search' | 'onExpired' | 'clock' | 'log'> &
  enrollment.EnrollLimits & { readonly decryptStored: DecryptStoredTemplate }

export function createVisitors(options: VisitorsOptions) {
  const { keys, search, clock, onExpired: onDeleted } = options
  const nowUtc = (): string => formatUtc(clock())
  const enroll = createEnrollVisitor(options)
  return {
    /** The id of the gallery with the visitors of a gallery. */
    galleryIdOf: visitorsGalleryId,
    findByIds: findSubjectsByIds,
    /** Records one more picture with a visitor. Must be called with its gallery locked. */
    addVisit: (tx: Tx, subjectId: string) => addVisit(tx, subjectId, nowUtc()),
    loadDetails: loadVisitorDetails,
    list: findVisitors,
    count: countVisitors,
    require: requireVisitor,
    /**
     * Enrolls a visitor as a new subject.
     *
     * @throws ActionError SUBJECT_NOT_FOUND, EXTERNAL_ID_CONFLICT, GALLERY_FULL or INVALID_REQUEST.
     */
    promote: async (
      tx: Tx,
      lookup: VisitorLookup,
      subject: enrollment.NewSubject & {
        readonly owner: Omit<enrollment.SubjectOwner, 'galleryId'>
        readonly groups: readonly string[]
      },
    ) => {
      const visitor = await lockVisitor(tx, lookup)
      const { galleryId } = lookup
      const update = { ...search, onDeleted, nowUtc: nowUtc() }
      const free = { galleryId, subjectId: '', externalId: null }
      await externalIdOf(tx, free, subject.externalId, update)
      const owner = { ...subject.owner, galleryId }
      const created = await enrollment.createSubject(tx, keys, owner, { ...subject, ...update })
      await addGroups(tx, created, subject.groups)
      return enroll(tx, visitor, created)
    },
    /**
     * Adds the faces of a visitor to a subject, and deletes the visitor.
     *
     * @throws ActionError SUBJECT_NOT_FOUND, TEMPLATE_LIMIT_REACHED, GALLERY_FULL or INVALID_REQUEST.
     */
    merge: async (tx: Tx, lookup: VisitorLookup, subjectId: string) => {
      const visitor = await lockVisitor(tx, lookup)
      const target = await findSubject(tx, lookup.galleryId, { subjectId })
      if (target && !hasExpired(target, nowUtc())) return enroll(tx, visitor, target)
      throw new ActionError('SUBJECT_NOT_FOUND', 'the gallery has no subject with this subjectId')
    },
    ignore: ignoreVisitor,
    remove: async (tx: Tx, lookup: VisitorLookup) =>
      deleteSubject(tx, await lockVisitor(tx, lookup), nowUtc()),
  }
}

/** Sends no events for a visitor, or again. */
async function ignoreVisitor(tx: Tx, lookup: VisitorLookup, isIgnored: boolean) {
  const visitor = await lockVisitor(tx, lookup)
  const change = { isIgnored: isIgnored ? 1 : 0 } as const
  await updateSubjectRow(tx, visitor.subjectId, change)
  return (await loadVisitorDetails(tx, [{ ...visitor, ...change }]))[0]
}

/** Locks both galleries for a change of a visitor, always in this order. @throws as `requireVisitor`. */
async function lockVisitor(tx: Tx, lookup: VisitorLookup): Promise<SubjectRow> {
  const { galleryId } = lookup
  for (const id of [galleryId, visitorsGalleryId(galleryId)]) await lockGallery(tx, id, 'exclusive')
  return requireVisitor(tx, lookup)
}

/** @throws ActionError SUBJECT_NOT_FOUND. */
export async function requireVisitor(
  reading: ReadTx,
  { galleryId, visitorId: subjectId }: VisitorLookup,
): Promise<SubjectRow> {
  const visitor = await findSubject(reading, visitorsGalleryId(galleryId), { subjectId })
  if (visitor) return visitor
  throw new ActionError('SUBJECT_NOT_FOUND', 'the gallery has no visitor with this visitorId', {
    hint: 'List the visitors with GET /v1/visitors. A visitor ends when it is promoted, merged or deleted, and by the retention of the project.',
  })
}

/** Returns the visitors in the order of their rows, as responses contain them. */
export async function loadVisitorDetails(reading: ReadTx, visitors: readonly SubjectRow[]) {
  const visitorIds = visitors.map(({ subjectId }) => subjectId)
  const counts = await faceCounts(reading, visitorIds)
  return visitors.map(({ subjectId, visitCount, createdAtUtc, lastSeenAtUtc, isIgnored }) => ({
    visitorId: subjectId,
    visitCount: visitCount ?? 0,
    firstSeenAtUtc: createdAtUtc,
    lastSeenAtUtc,
    embeddingCount: counts.get(subjectId) ?? 0,
    ignored: isIgnored === 1,
  }))
}

/**
 * Returns a function that deletes a visitor and adds its faces to a subject. Their templates and crops
 * are encrypted with the key of the subject; the faces get new ids.
 *
 * @throws ActionError INVALID_REQUEST if no template of the visitor can be decrypted.
 */
function createEnrollVisitor(options: VisitorsOptions) {
  const { clock, search, decryptStored } = options
  const { storeVectors } = search
  const readCrop = createReadCrop(options)
  const readFaces = async (tx: Tx, visitor: SubjectRow) => {
    const { subjectId, projectId } = visitor
    const stored = await findSubjectTemplates(tx, [subjectId])
    const faces = await mapSequential(await findSubjectFaces(tx, subjectId), async (face) => {
      const rows = stored.filter(({ faceId }) => faceId === face.faceId)
      const decrypted = await mapSequential(rows, (row) => decryptStored(tx, row))
      const [template, ...furtherTemplates] = decrypted.flatMap((one) => one ?? [])
      const jpeg = await readCrop(tx, visitor, face.faceId)
      const crop = jpeg && { jpeg, projectId }
      return template ? [{ ...face, template, furtherTemplates, crop }] : []
    })
    return faces.flat()
  }
  return async (tx: Tx, visitor: SubjectRow, subject: SubjectRow): Promise<SubjectDetails> => {
    const nowUtc = formatUtc(clock())
    const faces = await readFaces(tx, visitor)
    if (faces.length === 0) throw invalidRequest('no template of the visitor can be decrypted')
    for (const face of faces) {
      await enrollment.addFace(tx, subject, face, { ...options, storeVectors, nowUtc })
      for (const { vector } of [face.template, ...face.furtherTemplates]) vector.fill(0)
      face.crop?.jpeg.fill(0)
    }
    await deleteSubject(tx, visitor, nowUtc, subject)
    const current = await findSubject(tx, subject.galleryId, subject)
    const [details] = await loadSubjectDetails(tx, current ? [current] : [])
    if (!details) throw new Error('the subject of the visitor was not found')
    return details
  }
}
