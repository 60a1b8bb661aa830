import { setImmediate as nextEventLoopTurn } from 'node:timers/promises'
import { unavailable } from '../../../lib/errors.ts'
import { listCountMax, toListCount, type ListCount } from '../../../lib/limits/list-limits.ts'
import type { ReadTx, Store } from '../../database.ts'
import type { SubjectRow } from '../../gallery-schema.ts'
import { findFewIdsWithAttribute } from './attribute-filter.ts'
import { findStepEnd, findSubjectPositions, findSubjects, type SubjectFilter } from '../subjects.ts'

/**
 * Subjects whose text is compared in one read. SQLite blocks the event loop for about two milliseconds
 * meanwhile. PostgreSQL does not, so a step only must take less time than the statement timeout.
 */
const stepRowsInProcess = 5000
const stepRowsOnServer = 50_000

export type SubjectSource = Pick<Store, 'read' | 'isShared'> & {
  /** Instead of the number for the engine. */
  readonly stepRows?: number
}

/** A subject can be deleted between the search and the read of its row; then both are repeated. */
const triesMax = 10

export type LoadSubjects<T> = (reading: ReadTx, subjects: readonly SubjectRow[]) => Promise<T>

/**
 * Finds subjects in the order of the list and passes them to `load`, in one snapshot. A search for a
 * text, or for an attribute of many subjects, reads an index in steps, so that other calls run in between and no
 * statement takes long. The number of subjects does not matter if the page is full after a few steps.
 *
 * @throws HttpError 503 if subjects of the page were deleted during every try.
 */
export async function readSubjects<T>(
  source: SubjectSource,
  filter: SubjectFilter,
  load: LoadSubjects<T>,
): Promise<T> {
  const narrowed = await narrowByAttribute(source, filter)
  if (isSelective(narrowed))
    return source.read(async (reading) =>
      load(reading, isEmpty(narrowed) ? [] : await findSubjects(reading, narrowed)),
    )
  for (let tries = 0; tries < triesMax; tries++) {
    const subjectIds = await searchSubjects(source, narrowed)
    const loaded = await source.read(async (reading) => {
      const subjects =
        subjectIds.length > 0 ? await findSubjects(reading, { ...filter, subjectIds }) : []
      if (subjects.length === subjectIds.length) return { value: await load(reading, subjects) }
      return undefined
    })
    if (loaded) return loaded.value
  }
  throw unavailable('The gallery changed during the search; send it again.')
}

/** Whether an index or a list of ids finds the subjects of a page without reading many others. */
function isSelective({ subjectIds, text, attribute }: SubjectFilter): boolean {
  return subjectIds !== undefined || (text === undefined && attribute === undefined)
}

/** PostgreSQL has no condition for an empty list of ids. */
function isEmpty({ subjectIds }: SubjectFilter): boolean {
  return subjectIds?.length === 0
}

/** An attribute of few subjects is replaced by their ids, so that no other subjects are read. */
async function narrowByAttribute(source: SubjectSource, filter: SubjectFilter) {
  const { attribute, galleryId, ...others } = filter
  if (attribute === undefined) return filter
  const subjectIds = await source.read((reading) =>
    findFewIdsWithAttribute(reading, galleryId, attribute),
  )
  return subjectIds ? { ...others, galleryId, subjectIds } : filter
}

/** Counts the subjects of a list, at most `listCountMax`. */
export async function countSubjects(
  source: SubjectSource,
  { after: _after, sort: _sort, ...filter }: SubjectFilter,
): Promise<ListCount> {
  const counted = await narrowByAttribute(source, { ...filter, limit: listCountMax + 1 })
  if (isEmpty(counted)) return toListCount(0)
  const { length } =
    isSelective(counted) && counted.group === undefined
      ? await source.read((reading) =>
          findSubjectPositions(reading, { ...counted, upTo: undefined }),
        )
      : await searchSubjects(source, counted)
  return toListCount(length)
}

/** Returns the ids of at most `limit` subjects. */
async function searchSubjects(source: SubjectSource, filter: SubjectFilter) {
  const { stepRows = source.isShared ? stepRowsOnServer : stepRowsInProcess } = source
  const found: string[] = []
  for (let { after } = filter; ;) {
    const part = { ...filter, after, limit: filter.limit - found.length }
    const step = await source.read(async (reading) => {
      const end = await findStepEnd(reading, part, stepRows)
      return { end, positions: await findSubjectPositions(reading, { ...part, upTo: end }) }
    })
    found.push(...step.positions.map(({ subjectId }) => subjectId))
    if (found.length >= filter.limit || !step.end) return found
    after = step.end
    await nextEventLoopTurn()
  }
}
