import { z } from 'zod'
import { findVisitorsOfSubject } from '../../../actions/parts/search/visitors-of-subject.ts'
import { deletionRecord, subject } from '../../../actions/schemas/subject.ts'
import * as routes from '../../../http/routes/visitors.ts'
import type { ReadTx } from '../../../store/database.ts'
import { type ConsoleContext, defineRead, defineWrite } from '../../server/console-route.ts'
import { defineList } from '../../server/define-list.ts'
import { id, requireConfirmedId, requireProject } from '../../server/input.ts'

type ListCall = ConsoleContext<{ readonly ignored: 'true' | 'false' | 'all' }>

/** The unknown people of a gallery. */
export const { pages: listVisitors } = defineList({
  path: '/projects/:projectId/visitors',
  filter: z.strictObject({ ignored: routes.ignoredFilter }),
  item: routes.visitor,
  sortBy: ['seen', 'visits'],
  isDescending: true,
  position: z.strictObject({ seen: z.string(), visits: z.int(), visitorId: z.string() }),
  find: async (call, { after, limit, sort }) => {
    const { store, visitors } = call.services
    return store.read(async (tx) => {
      const rows = await visitors.list(tx, {
        ...(await readFilter(tx, call)),
        sortBy: sort.by === 'visits' ? 'visitCount' : 'lastSeenAtUtc',
        isDescending: sort.isDescending,
        after: after && { value: after[sort.by], subjectId: after.visitorId },
        limit,
      })
      return (await visitors.loadDetails(tx, rows)).map((item) => {
        const { visitorId, lastSeenAtUtc: seen, visitCount: visits } = item
        return { item, position: { seen, visits, visitorId } }
      })
    })
  },
  count: (call) => {
    const { store, visitors } = call.services
    return store.read(async (tx) => visitors.count(tx, await readFilter(tx, call)))
  },
})

async function readFilter(tx: ReadTx, call: ListCall) {
  const { galleryId } = await requireProject(tx, call)
  return {
    galleryId: call.services.visitors.galleryIdOf(galleryId),
    isIgnored: routes.isIgnoredOf(call.query),
  }
}

export const getVisitor = defineRead('/projects/:projectId/visitors/:visitorId', {
  response: routes.visitor,
  handle: (call) => {
    const { store, visitors } = call.services
    return store.read(async (tx) => {
      const visitor = await visitors.require(tx, await visitorLookup(tx, call))
      return routes.visitor.parse((await visitors.loadDetails(tx, [visitor]))[0])
    })
  },
})

/** Returns the visitors that resemble a subject: the person was probably seen before. */
export const listVisitorsOfSubject = defineRead(
  '/projects/:projectId/subjects/:subjectId/visitors',
  {
    isLong: true,
    response: z.object({ items: z.array(routes.visitor) }),
    handle: async (call) => {
      const { subjectId = '' } = call.pathParameters
      const caller = await call.services.store.read((tx) => requireProject(tx, call))
      const matching = call.services.matching.calibratedFor(caller.galleryId)
      const search = { params: { subjectId }, caller, services: { ...call.services, matching } }
      return { items: await findVisitorsOfSubject(search) }
    },
  },
)

const path = '/projects/:projectId/visitors/:visitorId'

/** Enrolls a visitor as a new subject. */
export const promoteVisitor = defineWrite(`${path}/promote`, {
  auditAction: 'visitor.promote',
  body: routes.promotion,
  response: subject,
  handle: async (call, { tx }) => {
    const { accountId, projectId, ...lookup } = await visitorLookup(tx, call)
    const promoted = { ...call.body, owner: { accountId, projectId } }
    const response = await call.services.visitors.promote(tx, lookup, promoted)
    return { response, ...changed(call, lookup, { subjectId: response.subjectId }) }
  },
})

/** Adds the faces of a visitor to a subject, and deletes the visitor. */
export const mergeVisitor = defineWrite(`${path}/merge`, {
  auditAction: 'visitor.merge',
  body: z.strictObject({ subjectId: id }),
  response: subject,
  handle: async (call, { tx }) => {
    const lookup = await visitorLookup(tx, call)
    const subjectId = call.body.subjectId.toLowerCase()
    const response = await call.services.visitors.merge(tx, lookup, subjectId)
    return { response, ...changed(call, lookup, { subjectId }) }
  },
})

/** Sends no events for a visitor, or again. */
export const ignoreVisitor = defineWrite(`${path}/ignore`, {
  auditAction: 'visitor.ignore',
  body: z.strictObject({ ignored: z.boolean() }),
  handle: async (call, { tx }) => {
    const { ignored } = call.body
    const lookup = await visitorLookup(tx, call)
    await call.services.visitors.ignore(tx, lookup, ignored)
    return { response: undefined, ...changed(call, lookup, { ignored }) }
  },
})

export const removeVisitor = defineWrite(path, {
  method: 'DELETE',
  auditAction: 'visitor.delete',
  body: z.strictObject({ confirm: z.string().max(64) }),
  response: deletionRecord,
  handle: async (call, { tx }) => {
    const lookup = await visitorLookup(tx, call)
    requireConfirmedId(call.body.confirm, lookup.visitorId, 'visitorId')
    const response = await call.services.visitors.remove(tx, lookup)
    return { response, ...changed(call, lookup, { deletionId: response.deletionId }) }
  },
})

/** Returns the ids of the visitor in the path, which need not exist. */
async function visitorLookup(tx: ReadTx, call: ConsoleContext) {
  const { accountId, projectId, galleryId } = await requireProject(tx, call)
  const { visitorId = '' } = call.pathParameters
  return { accountId, projectId, galleryId, visitorId: visitorId.toLowerCase() }
}

/** Returns the audit entry of a change, and what follows its commit. */
function changed(
  { services: { maintenance, visitors }, pathParameters: { projectId } }: ConsoleContext,
  { galleryId, visitorId }: { readonly galleryId: string; readonly visitorId: string },
  detail: Readonly<Record<string, unknown>>,
) {
  return {
    target: visitorId,
    detail: { ...detail, projectId },
    afterCommit: () => maintenance.purge(visitors.galleryIdOf(galleryId)),
  }
}
