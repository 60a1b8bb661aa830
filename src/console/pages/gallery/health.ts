import { z } from 'zod'
import type { GalleryMeasurement } from '../../../gallery/calibration/measurements.ts'
import type { GalleryHealth } from '../../../gallery/health/check-gallery.ts'
import { HttpError } from '../../../lib/errors.ts'
import { findDistinctSubjects } from '../../../store/gallery/duplicates/distinct-subjects.ts'
import { defineRead, defineWrite } from '../../server/console-route.ts'
import { count, id, requireProject } from '../../server/input.ts'

const path = '/projects/:projectId/health'

/** The newest decisions about pairs that the page lists. */
const pairsMax = 1_000

/**
 * Returns the last check of a gallery that this server started, for 15 minutes after its end, with the
 * subjects that have an issue, the merges that can be undone, and the pairs of subjects that users have
 * confirmed as different people; at most 1,000 of each.
 */
export const getHealth = defineRead(path, {
  response: z.object({
    check: z.custom<GalleryMeasurement<GalleryHealth>>().nullable(),
    merges: z.array(
      z.object({
        mergeId: z.string(),
        subjectId: z.string().meta({ description: 'The subject that remains.' }),
        mergedAtMs: count,
        expiresAtMs: count,
      }),
    ),
    distinct: z.array(
      z.object({
        subjectId: z.string(),
        otherId: z.string(),
        decidedAtUtc: z.string(),
        decidedBy: z.string(),
      }),
    ),
  }),
  handle: async (call) => {
    const { store, healthChecks, subjects } = call.services
    const { accountId } = call.identity
    return store.read(async (tx) => {
      const { galleryId } = await requireProject(tx, call)
      const check = healthChecks.find({ accountId, galleryId }) ?? null
      const merges = await subjects.listMerges(tx, galleryId)
      const distinct = await findDistinctSubjects(tx, galleryId, pairsMax)
      return {
        check,
        merges: merges.map(({ ciphertext: _ciphertext, ...merge }) => merge),
        distinct,
      }
    })
  },
})

/**
 * Starts a check of the gallery in a thread of this server.
 *
 * @throws HttpError 409 while another one runs on this server.
 */
export const startHealthCheck = defineWrite(path, {
  auditAction: 'gallery.check',
  isDoneByPrepare: true,
  response: z.object({ measurementId: z.string() }),
  prepare: async (call) => {
    const { services, identity } = call
    const project = await services.store.read((tx) => requireProject(tx, call))
    const { calibration: shipped } = await services.readModels()
    const gallery = { accountId: identity.accountId, galleryId: project.galleryId }
    const started = services.healthChecks.start({ ...gallery, shipped, samePerson: [] })
    if (started === undefined)
      throw new HttpError(
        409,
        'This server already checks a gallery of the account. Try again when it has ended.',
      )
    return { started, project }
  },
  handle: async ({ prepared: { started, project } }) => ({
    response: { measurementId: started },
    target: project.projectId,
    detail: { galleryId: project.galleryId },
  }),
})

/** Remembers that two subjects are different people, or no longer: a check then lists no duplicate. */
export const setDistinct = defineWrite('/projects/:projectId/subjects/:subjectId/distinct', {
  auditAction: 'subject.setDistinct',
  body: z.strictObject({ otherSubjectId: id, distinct: z.boolean() }),
  handle: async (call, { tx }) => {
    const { services, identity, body, pathParameters } = call
    const { projectId, galleryId } = await requireProject(tx, call)
    await services.subjects.lock(tx, galleryId, 'exclusive')
    const subjectId = (pathParameters['subjectId'] ?? '').toLowerCase()
    const otherId = body.otherSubjectId.toLowerCase()
    const decision = { at: services.clock(), by: identity.name, isDistinct: body.distinct }
    await services.subjects.decideDistinct(tx, { galleryId, subjectId, otherId }, decision)
    const detail = { otherSubjectId: otherId, distinct: body.distinct, projectId }
    return { response: undefined, target: subjectId, detail }
  },
})
