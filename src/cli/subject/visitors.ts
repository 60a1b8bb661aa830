import { clearVisitors, deletionOfCommand } from '../../gallery/deletion/subject-deletion.ts'
import {
  type VisitorLookup,
  type Visitors,
  createVisitors,
  loadVisitorDetails,
  requireVisitor,
} from '../../gallery/visitors.ts'
import { isIgnoredOf, promotion } from '../../http/routes/visitors.ts'
import { requireValid } from '../../lib/validation/describe-issue.ts'
import {
  countProjectVisitors,
  findVisitors,
  visitorsGalleryId,
} from '../../store/gallery/visitors.ts'
import { type AuditedResult, auditedChange, commandClock } from '../audit/audited-change.ts'
import { type CommandValues, UsageError, print, printRows } from '../command.ts'
import {
  type GalleryChangeContext,
  changeGallery,
  galleryOptions,
  printFields,
} from './subjects.ts'
import { withProject } from '../with-store.ts'
import { quantity } from '../quantity.ts'

type VisitorListValues = CommandValues<'project'> & {
  readonly sort: 'seen' | 'visits'
  readonly ignored: 'true' | 'false' | 'all'
  readonly limit: number
}

export async function list({ project, sort, json, limit, ...filter }: VisitorListValues) {
  const visitors = await withProject(project, (store, _project, galleryId) =>
    store.read(async (reading) => {
      const rows = await findVisitors(reading, {
        galleryId: visitorsGalleryId(galleryId),
        isIgnored: isIgnoredOf(filter),
        sortBy: sort === 'visits' ? 'visitCount' : 'lastSeenAtUtc',
        limit,
      })
      return loadVisitorDetails(reading, rows)
    }),
  )
  printRows(visitors, json, {
    visitorId: 'visitorId',
    pictures: 'visitCount',
    'first seen': 'firstSeenAtUtc',
    'last seen': 'lastSeenAtUtc',
    templates: 'embeddingCount',
    ignored: ({ ignored }) => (ignored ? 'yes' : 'no'),
  })
}

type VisitorValues = CommandValues<'project' | 'visitor'>

export async function show({ project, visitor, json }: VisitorValues): Promise<void> {
  const shown = await withProject(project, (store, _project, galleryId) =>
    store.read(async (reading) => {
      const row = await requireVisitor(reading, { galleryId, visitorId: visitor.toLowerCase() })
      return (await loadVisitorDetails(reading, [row]))[0]
    }),
  )
  printFields({ ...shown }, json)
}

type PromoteValues = VisitorValues &
  CommandValues<never, 'external-id' | 'name'> & { readonly groups: readonly string[] | undefined }

/** Enrolls a visitor as a new subject. */
export async function promote(values: PromoteValues): Promise<void> {
  const { visitor, json, 'external-id': externalId, name: displayName, groups } = values
  const person = requireValid(promotion, { externalId, displayName, groups }, 'options')
  const subject = await changeVisitor(values, 'visitor.promote', async (context) => {
    const { tx, visitors, lookup, accountId, projectId } = context
    const owner = { accountId, projectId }
    const result = await visitors.promote(tx, lookup, { ...person, owner })
    return { result, detail: { subjectId: result.subjectId } }
  })
  print(subject, json, () => `enrolled ${visitor} as the subject ${subject.subjectId}`)
}

/** Adds the faces of a visitor to a subject, and deletes the visitor. */
export async function merge(values: VisitorValues & { readonly into: string }): Promise<void> {
  const merged = await changeVisitor(values, 'visitor.merge', async (context) => {
    const { tx, visitors, lookup, find } = context
    const { subjectId } = await find(values.into)
    return { result: await visitors.merge(tx, lookup, subjectId), detail: { subjectId } }
  })
  const { subjectId, embeddingCount } = merged
  const result = `merged ${values.visitor} into ${subjectId}`
  print(merged, values.json, () => `${result}, which has ${quantity(embeddingCount, 'template')}`)
}

/** Sends no events about a visitor, or again. */
export async function ignore(values: VisitorValues & { readonly undo: boolean }): Promise<void> {
  const ignored = !values.undo
  const changed = await changeVisitor(values, 'visitor.ignore', async (context) => {
    const { tx, visitors, lookup } = context
    return { result: await visitors.ignore(tx, lookup, ignored), detail: { ignored } }
  })
  const events = ignored ? 'no events are sent' : 'events are sent again'
  print(changed, values.json, () => `${events} about ${values.visitor}`)
}

type RemoveValues = CommandValues<'project', 'visitor'> & Readonly<Record<'all' | 'yes', boolean>>

export async function remove({ project, visitor, all, yes, json }: RemoveValues): Promise<void> {
  if (all === (visitor !== undefined)) throw new UsageError('pass a <visitorId> or --all')
  if (visitor === undefined) return removeAll({ project, yes, json })
  const record = await changeVisitor({ project, visitor }, 'visitor.delete', async (context) => {
    const result = await context.visitors.remove(context.tx, context.lookup)
    return { result, detail: { deletionId: result.deletionId } }
  })
  print(record, json, () => `deleted ${visitor}; deletion record ${record.deletionId}`)
}

async function removeAll(values: CommandValues<'project'> & { readonly yes: boolean }) {
  const { project, yes, json } = values
  const deleted = await withProject(project, async (store, { projectId, accountId, name }) => {
    await auditedChange(store, 'visitor.deleteAll', async ({ tx }) => {
      const { total, isCapped } = await countProjectVisitors(tx, { projectId })
      const visitors = `${isCapped ? 'more than ' : ''}${quantity(total, 'visitor')}`
      if (!yes)
        throw new UsageError(
          `nothing was deleted; with --yes, the command permanently deletes ${visitors} of ${name}`,
        )
      return { result: undefined, accountId, target: projectId, detail: { name, visitors: total } }
    })
    const deletion = deletionOfCommand(store, commandClock(store))
    const { records } = await clearVisitors(deletion, projectId)
    return { projectId, visitorsDeleted: records.length }
  })
  const visitors = quantity(deleted.visitorsDeleted, 'visitor')
  print(deleted, json, () => `deleted ${visitors} of ${project}`)
}

type VisitorContext = GalleryChangeContext & {
  readonly visitors: Visitors
  readonly lookup: VisitorLookup
}

/** Changes a visitor in the transaction with its entry in the audit log. */
function changeVisitor<T>(
  { project, visitor }: Pick<VisitorValues, 'project' | 'visitor'>,
  auditAction: string,
  change: (context: VisitorContext) => Promise<Pick<AuditedResult<T>, 'result' | 'detail'>>,
): Promise<T> {
  return changeGallery(project, auditAction, async (context) => {
    const { galleryId, nowMs } = context
    const visitors = createVisitors({ ...galleryOptions(), clock: () => nowMs })
    const lookup = { galleryId, visitorId: visitor.toLowerCase() }
    const changed = await change({ ...context, visitors, lookup })
    return { ...changed, target: lookup.visitorId }
  })
}
