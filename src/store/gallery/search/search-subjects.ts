import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
import { listCountMax, toListCount, type ListCount } from '../../../lib/limits/list-limits.ts'
import type { ReadTx } from '../../database.ts'
import type { SubjectRow } from '../../gallery-schema.ts'
import { readInSteps, stepRows as stepRowsInProcess, type ListSource } from '../../lists.ts'
import { findFewIds } from './attribute-filter.ts'
import { enrollmentOrder, type SubjectCursor } from './subject-order.ts'
import { findStepEnd, findSubjectPositions, findSubjects, type SubjectFilter } from '../subjects.ts'

/**
 * Subjects whose text PostgreSQL compares in one step, which must take less time than the statement
 * timeout.
 */
const stepRowsOnServer = 50_000

export type SubjectSource = ListSource & {
  /** Instead of the number for the engine. */
  readonly stepRows?: number
}

/** Subjects that one read loads: with 20 faces each about 5 ms of SQLite. */
const stepSubjects = 50

export type LoadSubjects<T> = (
  reading: ReadTx,
  subjects: readonly SubjectRow[],
) => Promise<readonly T[]>

/** A position of a page. `subject` is undefined if the subject has left the list since. */
type SubjectAtPosition<T> = { readonly position: SubjectCursor; readonly subject: T | undefined }

/**
 * Finds subjects in the order of the list and passes them to `load` in steps, so that other calls run in
 * between. Each step is a separate read: a subject that was deleted, merged or changed between the steps
 * so that it does not match the filter any more has a position, but is not loaded. A search for a text, or
 * for an attribute or a group of many subjects, reads an index in steps, too. The number of subjects does not matter
 * if the page is full after a few of them.
 */
export async function readSubjects<T extends { readonly subjectId: string }>(
  source: SubjectSource,
  filter: SubjectFilter,
  load: LoadSubjects<T>,
): Promise<SubjectAtPosition<T>[]> {
  const { after: _after, ...conditions } = filter
  const page = await findPage(source, filter)
  const listed: SubjectAtPosition<T>[] = []
  for (let from = 0; from < page.length; from += stepSubjects) {
    if (from > 0) await nextEventLoopTurn()
    filter.signal?.throwIfAborted()
    const step = page.slice(from, from + stepSubjects)
    const subjectIds = step.map(({ subjectId }) => subjectId)
    const loaded = await source.read(async (reading) =>
      load(reading, await findSubjects(reading, { ...conditions, subjectIds })),
    )
    const byId = new Map(loaded.map((subject) => [subject.subjectId, subject]))
    for (const position of step) listed.push({ position, subject: byId.get(position.subjectId) })
  }
  return listed
}

async function findPage(source: SubjectSource, filter: SubjectFilter) {
  const narrowed = await narrowById(source, filter)
  // PostgreSQL has no condition for an empty list of ids.
  if (narrowed.subjectIds?.length === 0) return []
  if (!isSelective(narrowed)) return searchSubjects(source, narrowed)
  return source.read((reading) => findSubjectPositions(reading, narrowed))
}

/** Whether an index or a list of ids finds the subjects of a page without reading many others. */
function isSelective({ subjectIds, externalId, ...filter }: SubjectFilter): boolean {
  if ((subjectIds ?? externalId) !== undefined) return true
  const { text, attribute, group, sort = enrollmentOrder, createdFromUtc, createdToUtc } = filter
  const isPeriod = (createdFromUtc ?? createdToUtc) !== undefined
  const isInOrder = sort.by === 'createdAtUtc' || !isPeriod
  return (text ?? attribute ?? group) === undefined && isInOrder
}

/** Subjects with the attribute or in the group are found by their ids if they are few. */
async function narrowById(source: SubjectSource, filter: SubjectFilter) {
  const { attribute, group, galleryId } = filter
  const named = attribute ? { attribute } : group === undefined ? undefined : { group }
  if (isSelective(filter) || !named) return filter
  const subjectIds = await source.read((reading) => findFewIds(reading, { galleryId, ...named }))
  return subjectIds ? { ...filter, subjectIds } : filter
}

/** Counts the subjects of a list, at most `listCountMax`. */
export async function countSubjects(
  source: SubjectSource,
  { after: _after, sort: _sort, ...filter }: SubjectFilter,
): Promise<ListCount> {
  const { length } = await findPage(source, { ...filter, limit: listCountMax + 1 })
  return toListCount(length)
}

/** Returns the positions of at most `limit` subjects. */
function searchSubjects(source: SubjectSource, filter: SubjectFilter) {
  const { stepRows = source.isShared ? stepRowsOnServer : stepRowsInProcess } = source
  // PostgreSQL reads steps, too, because of its statement timeout.
  return readInSteps({ ...source, isShared: false }, [filter], {
    findEnd: (reading, part) => findStepEnd(reading, part, stepRows),
    find: findSubjectPositions,
  })
}
