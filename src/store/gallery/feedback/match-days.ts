import { dayMs, dayOf, formatUtc } from '../../../lib/clock.ts'
import { type ReadTx, type Tx, sql } from '../../database.ts'
import type { MatchDayRow } from '../../gallery-schema.ts'

/** The days whose matches are kept, with the current one. */
export const matchDaysKept = 90

const key = ['subjectId', 'projectId', 'day'] as const
const columns = [...key, 'matches'] as const
const sum = { matches: sql<number>`"matchDays".matches + excluded.matches` }

type Matched = Pick<MatchDayRow, 'projectId' | 'day'> & { readonly subjectIds: readonly string[] }

/** Counts a call for each of its matched subjects, if the project still counts matches. */
export async function countMatches(tx: Tx, { projectId, day, subjectIds }: Matched): Promise<void> {
  if (subjectIds.length === 0) return
  const matched = tx.build
    .selectFrom(['subjects as s', 'projects as p'])
    .select(['s.subjectId', 'p.projectId', sql<string>`${day}`.as('day')])
    .select(sql<number>`1`.as('matches'))
    .where('s.subjectId', 'in', subjectIds)
    .where('p.projectId', '=', projectId)
    .where('p.matchDays', '=', 1)
    // Concurrent calls lock the rows of several subjects in one order.
    .orderBy('s.subjectId')
  const added = tx.build.insertInto('matchDays').columns(columns).expression(matched)
  await tx.run(added.onConflict((row) => row.columns(key).doUpdateSet(sum)))
}

/** Matches of a subject on one day by calls of one project. */
export type MatchDay = Omit<MatchDayRow, 'subjectId'>

/** Lists the days on which a subject was matched, the oldest first, of projects that count matches. */
export function listMatchDays({ build, run }: ReadTx, subjectId: string) {
  const counting = build.selectFrom('projects').select('projectId').where('matchDays', '=', 1)
  const query = build.selectFrom('matchDays').select(['projectId', 'day', 'matches'])
  const ofSubject = query.where('subjectId', '=', subjectId).where('projectId', 'in', counting)
  return run(ofSubject.orderBy('day').orderBy('projectId'))
}

type Move = { readonly from: string; readonly to: string; readonly days: readonly MatchDay[] }

/** Moves matches of days from one subject to another, except those that the first has no more. */
export async function moveMatchDays({ build, run }: Tx, { from, to, days }: Move): Promise<void> {
  const rows = build.updateTable('matchDays').where('subjectId', '=', from)
  for (const { projectId, day, matches } of days) {
    const row = rows.where('projectId', '=', projectId).where('day', '=', day)
    const left = row.set((column) => ({ matches: column('matches', '-', matches) }))
    const taken = await run(left.where('matches', '>=', matches).returning('day'))
    if (taken.length === 0) continue
    const added = build.insertInto('matchDays').values({ subjectId: to, projectId, day, matches })
    await run(added.onConflict((conflict) => conflict.columns(key).doUpdateSet(sum)))
  }
  const empty = build.deleteFrom('matchDays').where('matches', '=', 0)
  await run(empty.where('subjectId', '=', from))
}

/** Deletes matches of days that are not kept, and of projects that count none. @returns the number. */
export async function deleteEndedMatchDays({ build, run }: Tx, nowMs: number, limit: number) {
  const firstDay = dayOf(formatUtc(nowMs - (matchDaysKept - 1) * dayMs))
  const ended = build
    .selectFrom(['projects as p', 'matchDays as m'])
    .select(['m.subjectId', 'm.projectId', 'm.day'])
    .whereRef('m.projectId', '=', 'p.projectId')
    .where('p.isFrozen', '=', 0)
    // One condition, so that both engines use the index of each project.
    .where('m.day', '<', sql<string>`case p."matchDays" when 1 then ${firstDay} else '9999' end`)
    .limit(limit)
  const deletion = build
    .deleteFrom('matchDays')
    .where((row) => row(row.refTuple(...key), 'in', ended.$asTuple(...key)))
  return (await run(deletion.returning('day'))).length
}
