import { galleryIdOf } from '../tenancy/projects.ts'
import type { ReadTx, Tx } from '../database.ts'
import type { FaceMatch, MatchOutcome } from './events.ts'

/** The matches that a webhook receives; an omitted condition excludes none. */
export type MatchFilter = {
  /** The subject is in one of these groups. */
  readonly groups?: readonly string[] | undefined
  readonly outcomes?: readonly MatchOutcome[] | undefined
  /** 0 to 1. */
  readonly minSimilarity?: number | undefined
}

/** Webhooks that receive the same matches of a call. */
export type MatchReceivers = {
  readonly webhookIds: readonly string[]
  readonly matches: readonly FaceMatch[]
}

/** Returns the filter of a webhook's row. */
export function parseMatchFilter(json: string): MatchFilter {
  return JSON.parse(json) as MatchFilter
}

/** Finds the webhooks of a project that receive matches, each with those that its filter selects. */
export async function findMatchReceivers(
  tx: ReadTx,
  projectId: string,
  matches: readonly FaceMatch[],
): Promise<readonly MatchReceivers[]> {
  const query = tx.build
    .selectFrom('webhooks')
    .select(['webhookId', 'matchFilter'])
    .where('projectId', '=', projectId)
    .where('events', 'like', '%"identify.matched"%')
  const byFilter = Map.groupBy(await tx.run(query), ({ matchFilter }) => matchFilter)
  return [...byFilter].flatMap(([json, webhooks]) => {
    const filter = parseMatchFilter(json)
    const selected = matches.filter((match) => isSelected(match, filter))
    const webhookIds = webhooks.map(({ webhookId }) => webhookId)
    return selected.length > 0 ? [{ webhookIds, matches: selected }] : []
  })
}

function isSelected(
  match: FaceMatch,
  { groups, outcomes, minSimilarity = 0 }: MatchFilter,
): boolean {
  if (match.similarity < minSimilarity) return false
  if (outcomes && !outcomes.includes(match.outcome)) return false
  return groups === undefined || groups.some((name) => match.groups.includes(name))
}

/** Replaces the name of a group in the filters of a gallery's webhooks. */
export async function renameGroupInFilters(
  tx: Tx,
  { galleryId, name, newName }: { galleryId: string; name: string; newName: string },
): Promise<void> {
  const query = tx.build
    .selectFrom('webhooks')
    .innerJoin('projects', 'projects.projectId', 'webhooks.projectId')
    .select(['webhookId', 'matchFilter', 'projects.projectId', 'accountId', 'galleryMode'])
    .where((row) =>
      row.or([row('projects.projectId', '=', galleryId), row('accountId', '=', galleryId)]),
    )
  for (const { webhookId, matchFilter, ...project } of await tx.run(query)) {
    const filter = parseMatchFilter(matchFilter)
    if (galleryIdOf(project) !== galleryId || !filter.groups?.includes(name)) continue
    const groups = filter.groups.map((group) => (group === name ? newName : group))
    const change = tx.build
      .updateTable('webhooks')
      .set({ matchFilter: JSON.stringify({ ...filter, groups }) })
    await tx.run(change.where('webhookId', '=', webhookId))
  }
}
