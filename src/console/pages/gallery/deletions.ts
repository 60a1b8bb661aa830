import { z } from 'zod'
import { externalId } from '../../../actions/schemas/fields.ts'
import { deletionRecord } from '../../../actions/schemas/subject.ts'
import { findChainedDeletion } from '../../../store/gallery/deletion-chain.ts'
import { countDeletions, findDeletions } from '../../../store/gallery/deletions.ts'
import { HttpError } from '../../../lib/errors.ts'
import { certificateSchema } from '../../../lib/crypto/deletion-certificate.ts'
import { findProjectNames } from '../../../store/tenancy/project-summaries.ts'
import type { ReadTx } from '../../../store/database.ts'
import { id, requireProject, resolveTimeRange, timeRange } from '../../server/input.ts'
import { defineList } from '../../server/define-list.ts'
import { defineRead, defineWrite, type ConsoleContext } from '../../server/console-route.ts'

const deletionFilter = z.strictObject({
  projectId: id.optional(),
  subjectId: id.optional(),
  externalId: externalId.optional(),
  ...timeRange,
})

/** The records of the gallery of one project, or of all galleries of the account. */
export const { pages: listDeletions, csv: deletionsCsv } = defineList({
  path: '/deletions',
  filter: deletionFilter,
  item: deletionRecord.extend({
    projects: z
      .array(z.string())
      .meta({ description: 'The names of the projects that use the gallery of the subject.' }),
  }),
  sortBy: ['deleted'],
  isDescending: true,
  position: z.tuple([z.string(), z.int()]),
  find: async (call, { after, limit, sort }) => {
    return call.services.store.read(async (tx) => {
      const conditions = await readConditions(tx, call)
      const order = { isAscending: !sort.isDescending, after, limit }
      const deletions = await findDeletions(tx, { ...conditions, ...order })
      const projects = await findProjectNames(tx, call.identity.accountId)
      return deletions.map(({ position, galleryId, record }) => {
        const ofGallery = projects.filter((project) => project.galleryId === galleryId)
        return { item: { ...record, projects: ofGallery.map(({ name }) => name) }, position }
      })
    })
  },
  count: async (call) => {
    const { read } = call.services.store
    return read(async (tx) => countDeletions(tx, await readConditions(tx, call)))
  },
})

async function readConditions(tx: ReadTx, call: ConsoleContext<z.output<typeof deletionFilter>>) {
  const { query, identity, services } = call
  const { subjectId, externalId, projectId } = query
  const { fromUtc, toUtc } = resolveTimeRange(query, services.clock())
  const times = { fromUtc: fromUtc?.toISOString(), toUtc: toUtc?.toISOString() }
  const conditions = { subjectId, externalId, ...times }
  if (projectId === undefined) return { accountId: identity.accountId, ...conditions }
  const { galleryId } = await requireProject(tx, { pathParameters: { projectId }, identity })
  return { galleryId, ...conditions }
}

/** Checks that the deletion records are unchanged: their hash chain and the triggers that protect them. */
export const checkDeletions = defineRead('/deletions/check', {
  response: z.object({ ok: z.boolean(), detail: z.string() }),
  handle: async (call) => {
    const checks = await call.services.auditor.audit()
    // L6: the triggers that reject changes to records. L7: the hash chains.
    const failed = checks.filter(({ name, ok }) => ['L6', 'L7'].includes(name) && !ok)
    const detail = failed.map((check) => check.detail).join('; ')
    return { ok: failed.length === 0, detail: detail || 'All records match the hash chain.' }
  },
})

/** Signs that a record is in the ledger. The first certificate of an account creates its key. */
export const signDeletion = defineWrite('/deletions/:deletionId/certificate', {
  method: 'POST',
  minimumRole: 'admin',
  auditAction: 'deletion.certify',
  response: certificateSchema,
  handle: async ({ identity: { accountId }, pathParameters, services }, { tx }) => {
    const { deletionId = '' } = pathParameters
    const row = await findChainedDeletion(tx, { accountId, deletionId })
    if (!row) throw new HttpError(404, 'The account has no deletion record with this id.')
    return { response: await services.signDeletion(tx, row), target: deletionId }
  },
})
