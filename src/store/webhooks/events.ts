import { randomUUID } from 'node:crypto'
import { type ReadTx, type Tx, sql } from '../database.ts'
import { galleryIdOf } from '../tenancy/projects.ts'
import {
  type FaceEventType,
  type WebhookEventType,
  faceEventTypes,
  parseEventTypes,
  testEventType,
} from './event-types.ts'

/** The outcomes of a face that matches. */
export const matchOutcomes = ['match', 'ambiguous'] as const
export type MatchOutcome = (typeof matchOutcomes)[number]

/** An event about a face of a call of svc.identify. Those of one type are sent together. */
export type FaceEvent = {
  readonly type: FaceEventType
  /** What the event contains. */
  readonly face: {
    readonly faceIndex: number
    /** To the subject or visitor; of a face without a match, to the most similar subject. */
    readonly similarity: number | null
    /** Of a match. */
    readonly outcome?: MatchOutcome
    readonly groups?: readonly string[]
    /** Fields that no filter reads. */
    readonly [field: string]: unknown
  }
}

/** An event with the element of `results` in the response that contains its face. */
export type ResultFaceEvent = FaceEvent & { readonly resultIndex: number }

export type NewEvent = {
  readonly projectId: string
  readonly type: WebhookEventType
  readonly data: Readonly<Record<string, unknown>>
  readonly atMs: number
}

type EventOptions = { readonly outboxMax: number; readonly webhookIds?: readonly string[] }

/**
 * Stores an event for each webhook of its project that receives it, in the transaction of its cause.
 * A webhook with `outboxMax` pending deliveries does not receive it: the event is discarded and
 * counted.
 *
 * @param webhookIds these webhooks only, all of which receive the event.
 */
export async function addEvent(
  tx: Tx,
  { projectId, type, data, atMs }: NewEvent,
  { outboxMax, webhookIds }: EventOptions,
): Promise<void> {
  const eventId = newEventId()
  const receivers = webhookIds
    ? sql`"webhookId" in (${sql.join(webhookIds)})`
    : sql`"projectId" = ${projectId} and events like ${`%"${type}"%`}`
  // The order is that of the index: PostgreSQL would read the deliveries of all webhooks instead.
  const isFull = sql<boolean>`(select 1 from "webhookDeliveries" d
    where d."webhookId" = webhooks."webhookId" and d.state = 'pending'
    order by d."dueAtMs" limit 1 offset ${outboxMax - 1}) is not null`
  const source = tx.build
    .selectFrom('webhooks')
    .select([
      sql<string>`cast(${eventId} as text)`.as('eventId'),
      'webhookId',
      'projectId',
      sql<string>`cast(${type} as text)`.as('type'),
      sql<string>`cast(${JSON.stringify(data)} as text)`.as('data'),
      sql<number>`cast(${atMs} as bigint)`.as('createdAtMs'),
      sql<number>`cast(${atMs} as bigint)`.as('queuedAtMs'),
    ])
    .where(sql<boolean>`${receivers} and not ${isFull}`)
  const insert = tx.build
    .insertInto('webhookDeliveries')
    .columns(['eventId', 'webhookId', 'projectId', 'type', 'data', 'createdAtMs', 'queuedAtMs'])
    .expression(source)
    .returning('webhookId')
  const stored = await tx.run(insert)
  if (stored.length === webhookIds?.length) return
  const ids = stored.map(({ webhookId }) => webhookId)
  const discard = tx.build
    .updateTable('webhooks')
    .set({ discarded: sql<number>`discarded + 1` })
    .where(sql<boolean>`${receivers}`)
  await tx.run(ids.length > 0 ? discard.where('webhookId', 'not in', ids) : discard)
}

/** Before the deliveries that are due, whose value is 0 or a time. */
const firstDueAtMs = -1

/** Stores a test event for one webhook, whatever it receives. @returns the event's id. */
export async function addTestEvent(
  tx: Tx,
  { webhookId, projectId }: { readonly webhookId: string; readonly projectId: string },
  atMs: number,
): Promise<string> {
  const eventId = newEventId()
  const event = { eventId, type: testEventType, data: JSON.stringify({ webhookId }) }
  await tx.run(
    tx.build.insertInto('webhookDeliveries').values({
      ...event,
      webhookId,
      projectId,
      createdAtMs: atMs,
      queuedAtMs: atMs,
      dueAtMs: firstDueAtMs,
    }),
  )
  return eventId
}

function newEventId(): string {
  return `evt_${randomUUID().replaceAll('-', '')}`
}

/** The matches that a webhook receives; an omitted condition excludes none. */
export type MatchFilter = {
  /** The subject is in one of these groups. */
  readonly groups?: readonly string[] | undefined
  readonly outcomes?: readonly MatchOutcome[] | undefined
  /** 0 to 1. */
  readonly minSimilarity?: number | undefined
}

/** Returns the filter of a webhook's row. */
export function parseMatchFilter(json: string): MatchFilter {
  return JSON.parse(json) as MatchFilter
}

/** The most bytes of the faces of an event. 200 faces without groups take about 60,000. */
export const eventFacesBytesMax = 65_536

/**
 * Finds the webhooks of a project that receive events about faces, with the faces that their filters
 * select.
 */
export async function findFaceEventReceivers(
  tx: ReadTx,
  projectId: string,
  events: readonly ResultFaceEvent[],
) {
  const query = tx.build.selectFrom('webhooks').select(['webhookId', 'events', 'matchFilter'])
  const webhooks = await tx.run(query.where('projectId', '=', projectId))
  return faceEventTypes.flatMap((type) => {
    const ofType = events.filter((event) => event.type === type)
    const receiving = webhooks.filter((webhook) => parseEventTypes(webhook.events).includes(type))
    return [...Map.groupBy(receiving, ({ matchFilter }) => matchFilter)].flatMap(([json, same]) => {
      const filter = parseMatchFilter(json)
      const selected = ofType.filter((event) => isSelected(event, filter))
      let bytes = 0
      const faces = selected
        .map(({ resultIndex, face }) => ({ resultIndex, ...face }))
        .filter((face) => {
          bytes += Buffer.byteLength(JSON.stringify(face))
          return bytes <= eventFacesBytesMax
        })
      const webhookIds = same.map(({ webhookId }) => webhookId)
      // The number of selected faces that the event does not contain.
      const omitted = selected.length - faces.length
      return faces.length > 0 ? [{ type, webhookIds, faces, omitted }] : []
    })
  })
}

/** The groups and outcomes of a filter apply to matches only. */
function isSelected({ face }: FaceEvent, { minSimilarity = 0, ...filter }: MatchFilter): boolean {
  if ((face.similarity ?? 0) < minSimilarity) return false
  const { outcome, groups } = face
  if (outcome && filter.outcomes && !filter.outcomes.includes(outcome)) return false
  return !groups || !filter.groups || filter.groups.some((name) => groups.includes(name))
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
